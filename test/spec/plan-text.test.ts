import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlan, planBlocks, PlanReader, withSharedParts } from '../../src/spec/plan-text.js';
import { Plan, type PlannedRun, Resources } from '../../src/spec/planned-run.js';
import { plan } from '../supervisor/testbed.js';

const textOf = (of: Plan) => [...planBlocks(of)].join('');

const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
const someRuns = fc.array(
  fc.record({
    parameters: fc.dictionary(fc.string(), value),
    argv: fc.array(fc.string(), { minLength: 1 }),
    grace: fc.nat(2),
    metrics: fc.constantFrom<PlannedRun['metrics']>(
      { show: ['a\nb'], x: 'step', progress: null },
      { show: [], x: 'epoch', progress: null },
    ),
    subgroup: fc.option(fc.string()),
    input: fc.constantFrom<PlannedRun['input']>(undefined, 'lines', 'terminal'),
    snapshot: fc.constantFrom(undefined, { path: '/a', cwd: '/w' }, { path: '/b', cwd: '/w' }),
  }),
  { maxLength: 20 },
);

const manyRuns = () =>
  plan(
    '/runs',
    's',
    Array.from({ length: 2000 }, (_, n) => ({ parameters: { n }, grace: n % 2 })),
  );

describe('the text of a plan', () => {
  it('gives the plan back, and the same text again, whatever is in it', () => {
    fc.assert(
      fc.property(someRuns, (runs) => {
        const made = Plan.parse(JSON.parse(JSON.stringify(plan('/runs', 's', runs))));
        const text = textOf(made);
        expect(parsePlan(text)).toEqual(made);
        expect(textOf(parsePlan(text))).toBe(text);
        expect(textOf(withSharedParts(made))).toBe(text);
      }),
    );
  });

  it('can be read in blocks of any whole lines', () => {
    const text = textOf(manyRuns());
    const reader = new PlanReader();
    const lines = text.match(/.*\n/g)!;
    for (let from = 0; from < lines.length; from += 7) reader.push(lines.slice(from, from + 7).join(''));
    expect(reader.plan()).toEqual(manyRuns());
  });

  it('says once what runs have in common, and so does the memory', () => {
    const text = textOf(manyRuns());
    expect(text.match(/"retry"/g)).toHaveLength(2);
    expect(text.length).toBeLessThan(JSON.stringify(manyRuns()).length / 2);
    expect(new Set(parsePlan(text).runs.map(({ retry }) => retry)).size).toBe(2);
  });

  it('may be of a version that wrote the cores of a run where nobody had said them', () => {
    const said = (cpus?: number) => Resources.parse({ gpus: 1, ...(cpus === undefined ? {} : { cpus }) });
    const written = plan('/runs', 's', [{ resources: said(1) }, { resources: said(2) }]);
    const meant = plan('/runs', 's', [{ resources: said() }, { resources: said(2) }]);
    expect(parsePlan(textOf(written))).toEqual(written);
    expect(parsePlan(textOf(written).replace('"version":3', '"version":2'))).toEqual(meant);
    expect(parsePlan(JSON.stringify(written))).toEqual(meant);
  });

  it('may be of version 1, which was one JSON value', () => {
    expect(parsePlan(JSON.stringify(manyRuns()))).toEqual(manyRuns());
  });

  it.each(['', '{"type":"plan","version":3}\n', '[0,{}]\n', '{"type":"plan","version":2}\n', 'nonsense'])(
    'is refused where it is %j',
    (text) => expect(() => parsePlan(text)).toThrow(),
  );
});

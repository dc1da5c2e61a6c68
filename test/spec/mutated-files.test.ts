import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { property } from '../tiers.js';
import { UserError } from '../../src/base/user-error.js';
import { mutant, numbers } from './mutator.js';
import { planOf, refusal } from './sweeps.js';

/** More in the long form: `MUTATIONS=100000 npx vitest run test/spec/mutated-files.test.ts --testTimeout=0`. */
const count = Number(process.env['MUTATIONS'] ?? 400);

const policy = [
  'command: [python, train.py, "${args}", "--out=${run_dir}"]',
  'parameters: {N: [1, 2], lr: {values: [0.1, 0.2], when: "N > 1"}, k: {expr: "N * 2"}}',
  'cases: [{r: x}, {r: y, b: [1, 2]}]',
  'include: [{N: 1, q: 3}, {N: 9}]\nexclude: [{N: 2, r: x}]',
  'retry: {max: 2, backoff: 10s, on: [oom]}\ntimeout: 2h\npriority: 3\nbreaker: {failures: 2, within: 5s}',
  'metric: {name: loss, goal: minimize, target: 0.1}\nearly_terminate: {type: hyperband, min_iter: 3}',
  'resources: {gpus: 1, gpu_memory: 20GB, mps: off}\nstop_when: {when: "loss < 0.1", for: 2}',
  'notify: {command: [notify-send], webhook: "https://x.org/${envvar:TOKEN}", on: [failed]}',
  'metrics: {show: [loss], progress: {key: step, total: N * 10}}\ndone: {file: a.jsonl, where: \'name == "final"\'}',
  'groups: {A: {needs: B, name: "A_{N}_{r}_{lr}"}, B: {method: random, run_cap: 5, parameters: {z: {min: 0, max: 1}}}}',
].join('\n');
const commands = "python train.py --lr 0.1\nNAME=x ./run.sh 'a b' \"c\"\n# note\n\nsh -c 'echo $x | cat'\n";

const texts = [
  ...['sweeps', 'test/fixtures/wandb'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
  ),
  policy,
];

type Told = 'plan' | 'mistake';

/** What becomes of a text. Anything but a plan or a UserError that says what to do is thrown on, with the text. */
function told(text: string, path: string): Told {
  try {
    const { runs } = planOf(text, { path, environment: { TOKEN: 't', OUT_DIR: '/o' } });
    expect(runs.length).toBeGreaterThan(0);
    return 'plan';
  } catch (error) {
    if (error instanceof UserError && error.message !== '' && error.fix !== '') return 'mistake';
    throw new Error(`not a clear mistake, in this file:\n${text.slice(0, 20_000)}`, { cause: error });
  }
}

describe('a sweep file that was damaged', () => {
  property('gives a plan, or a mistake that is told', count, ({ numRuns }) => {
    const draw = numbers(20_26);
    const tally: Record<Told, number> = { plan: 0, mistake: 0 };
    for (let index = 0; index < numRuns; index += 1) {
      const isList = draw() < 0.1;
      tally[told(mutant(isList ? [commands] : texts, draw), isList ? 'x.txt' : 'x.yaml')] += 1;
    }
    // Neither may be rare, or the damage is too great or too small to find anything.
    expect(Math.min(tally.plan, tally.mistake)).toBeGreaterThan(numRuns / 20);
  });

  it.each<{ what: string; text: () => string; says: RegExp }>([
    {
      what: 'a bomb of aliases',
      text: () => {
        const levels = Array.from(
          { length: 9 },
          (_, level) => `a${level + 1}: &a${level + 1} [${Array(9).fill(`*a${level}`).join(', ')}]`,
        );
        return ['a0: &a0 [x, x, x]', ...levels].join('\n');
      },
      says: /anchors and aliases do not resolve/,
    },
    {
      what: 'a bomb of merges',
      text: () => {
        const levels = Array.from(
          { length: 30 },
          (_, level) => `a${level + 1}: &a${level + 1} {<<: [*a${level}, *a${level}], k${level}: 1}`,
        );
        return ['a0: &a0 {x: 1}', ...levels].join('\n');
      },
      says: /is not a key of a sweep file|anchors and aliases do not resolve/,
    },
    {
      what: 'brackets without end',
      text: () => `a: ${'['.repeat(30_000)}`,
      says: /nested more than 32 levels|not YAML/,
    },
    {
      what: 'closed brackets',
      text: () => `a: ${'['.repeat(3000)}${']'.repeat(3000)}`,
      says: /nested more than 32 levels/,
    },
    { what: 'dashes without end', text: () => `${'- '.repeat(20_000)}x`, says: /nested more than 32 levels/ },
    { what: 'nested parameters without end', text: () => nested(3000), says: /nested more than 32 levels/ },
    {
      what: 'a deep expression',
      text: () => `command: [a]\nparameters: {a: {expr: "${'('.repeat(20_000)}1${')'.repeat(20_000)}"}}`,
      says: /parameters\.a\.expr/,
    },
    { what: 'millions of runs', text: () => grid(8, 10), says: /would make 100,000,000 runs; the limit is 200,000/ },
    { what: 'more runs than numbers count', text: () => grid(400, 10), says: /the limit is 200,000/ },
    {
      what: 'too many draws',
      text: () => 'command: [a]\nmethod: random\nrun_cap: 1000000\nparameters: {a: {min: 0, max: 1}}',
      says: /Lower|would make/,
    },
    {
      what: 'a file of many megabytes',
      text: () => `command: [a]\n${'# x\n'.repeat(1_100_000)}`,
      says: /characters; the limit is/,
    },
  ])('is refused before it takes all memory: $what', ({ text, says }) => {
    expect(refusal(() => planOf(text())).message).toMatch(says);
  });
});

function nested(levels: number): string {
  return `command: [a]\nparameters: ${'{a: {parameters: '.repeat(levels)}{b: 1}${'}}'.repeat(levels)}`;
}

function grid(axes: number, values: number): string {
  const list = Array.from({ length: values }, (_, index) => index);
  const parameters = Object.fromEntries(Array.from({ length: axes }, (_, index) => [`p${index}`, list]));
  return JSON.stringify({ command: ['a'], parameters });
}

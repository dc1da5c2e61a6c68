import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ParameterValue } from '../../../src/base/scalar.js';
import { axesOf } from '../../../src/spec/expand/compile-block.js';
import { wandbConfigFile } from '../../../src/spec/expand/wandb-run.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import { readYaml } from '../../../src/spec/file/yaml-source.js';
import { planOf } from '../sweeps.js';

/** What W&B's own code made of a public sweep file; `make-fixtures.py` beside the file wrote it. */
type Made = {
  source: string;
  text: string;
  warnings: string[];
  runs: { config: Record<string, { value: ParameterValue }>; argv: string[] }[];
  /** Of a grid: how many runs, and the SHA-256 of all their commands. */
  count?: number;
  digest?: string;
  /** Of a random or Bayesian search: what lies below each share of all draws. */
  draws?: Record<string, ParameterValue[]>;
};

const { shares, files } = JSON.parse(readFileSync('test/fixtures/wandb/public.json', 'utf8')) as {
  shares: number[];
  files: Made[];
};
const environment = { DATA_DIR: '/data' };
const isLaunch = ({ text }: Made) => /^(job|scheduler):/m.test(text);
const grids = files.filter((file) => file.count !== undefined && !isLaunch(file));
const searches = files.filter((file) => file.draws !== undefined && !isLaunch(file));

/** What `wandb.config` would hold. */
function configOf(run: { files?: Record<string, string> | undefined }): unknown {
  const source = readYaml(run.files![wandbConfigFile]!, wandbConfigFile, 'wandb');
  if (!('value' in source)) throw new Error('not YAML');
  const { wandb_version: version, ...config } = source.value as Record<string, unknown>;
  expect(version).toBe(1);
  return config;
}

describe('public W&B sweep files', () => {
  it('are many, of many kinds', () => {
    expect(grids.length + searches.length).toBeGreaterThanOrEqual(40);
    expect(new Set(files.map(({ source }) => source.split('@')[0])).size).toBeGreaterThanOrEqual(15);
  });

  it.each(grids.map((file) => [file.source, file] as const))('have the grid W&B makes: %s', (_, made) => {
    const { runs } = planOf(made.text, { environment });
    expect(runs).toHaveLength(made.count!);
    made.runs.forEach(({ argv, config }, index) => {
      expect(runs[index]!.argv).toEqual(argv);
      expect(configOf(runs[index]!)).toEqual(config);
    });
    const digest = createHash('sha256').update(JSON.stringify(runs.map(({ argv }) => argv)));
    expect(digest.digest('hex')).toBe(made.digest);
  });

  it.each(searches.map((file) => [file.source, file] as const))('are drawn from as by W&B: %s', (_, made) => {
    const sweep = parseSweepFile(made.text, 'x.yaml');
    if (sweep.kind !== 'groups') throw new Error('no sweep');
    const [block] = sweep.blocks;
    const drawn = axesOf(block!.parameters, false).filter(({ constant }) => !constant);
    expect(drawn.map(({ name }) => name)).toEqual(Object.keys(made.draws!));
    for (const { name, draw } of drawn) {
      shares.forEach((share, index) => expectNear(draw(share)[0], made.draws![name]![index]!));
    }
    // The same point alone: its command and what `wandb.config` holds.
    const set = Object.entries(made.draws!).map(([name, values]) => `${name}=${JSON.stringify([values.at(-1)])}`);
    const [run] = planOf(atRandom(made), { environment, set }).runs;
    expect(run!.argv).toEqual(made.runs[0]!.argv);
    expect(configOf(run!)).toEqual(made.runs[0]!.config);
  });

  it.each(files.filter(({ warnings }) => warnings.length > 0).map((file) => [file.source, file] as const))(
    'are warned of where W&B warns: %s',
    (_, made) => {
      if (isLaunch(made)) return expect(() => planOf(made.text, { environment })).toThrow(/W&B Launch/);
      const { notes } = planOf(atRandom(made), { environment, set: ['run_cap=2'] });
      const names = made.warnings.map((warning) => /^\w+(?= uses )|(?<=\(')\w+/.exec(warning)![0]);
      for (const name of names) expect(notes).toContainEqual(expect.stringContaining(`\`${name}\` is`));
    },
  );
});

/** A search that learns as one that does not: its points are chosen elsewhere. */
const atRandom = ({ text }: Made) => text.replace(/^method:.*$/m, 'method: random');

/** SciPy and we compute the same functions in other orders. */
function expectNear(actual: ParameterValue, expected: ParameterValue): void {
  if (typeof actual !== 'number' || typeof expected !== 'number') return expect(actual).toEqual(expected);
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
}

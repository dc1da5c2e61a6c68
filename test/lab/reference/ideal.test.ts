import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { ReferenceFile } from '../../../src/lab/reference/reference-file.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { ideal, idealLines, writeReference } from '../../../src/lab/reference/ideal.js';
import { idealKeys } from '../../../src/lab/reference/keys.js';
import { testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

const configOf = (...argv: string[]) => readArguments(idealKeys, ['seeds=8', ...argv]).config;

async function found(...argv: string[]): Promise<ReferenceFile> {
  const file = await ideal(configOf(...argv), testWorld());
  if (typeof file === 'string') throw new Error(`stopped by ${file}`);
  return file;
}

describe('memrl ideal', () => {
  it('has a row for each channel and size, in that order', async () => {
    const { rows } = await found('N=16,64', 'conditions=sft,B8,stepwise');
    expect(rows.map(({ condition, N, ceilingBits }) => [condition.kind, N, ceilingBits])).toEqual([
      ['sft', 16, 4],
      ['sft', 64, 6],
      ['binned', 16, 3],
      ['binned', 64, 3],
      ['dense', 16, 4],
      ['dense', 64, 6],
    ]);
    expect(rows[0]).toMatchObject({ secretBits: 4, mutualBits: 4, tabular: null, ideal: { median: 1, reached: 8 } });
    expect(rows[4]).toMatchObject({ condition: { credit: 'stepwise' }, tabular: { seeds: 8, reached: 8 } });
  });

  it('gives a cell the same figures whatever else is asked for, and others for another seed', async () => {
    const [alone] = (await found('N=64', 'conditions=B4')).rows;
    const among = (await found('N=16,64', 'conditions=binary,B4')).rows.at(-1);
    expect(among).toEqual(alone);
    expect((await found('N=64', 'conditions=B4', 'seed=100')).rows[0]).not.toEqual(alone);
  });

  it('counts tables that have not memorised when their budget ends', async () => {
    const { rows, tabular } = await found(
      'N=1024',
      'conditions=binary',
      'budget=40',
      'optimizer=adam',
      'learning_rate=0.1',
    );
    expect(rows[0]!.tabular).toEqual({ seeds: 8, reached: 0, median: null, interval: null, mean: null });
    expect(tabular).toEqual({ optimizer: 'adam', learning_rate: 0.1, group_size: 4, budget: 40 });
    expect(idealLines({ version: 1, tabular, rows }, 100).join('\n')).toMatch(
      /binary +1024 +1 +0\.0112 [^]*∞ +0\/8\n[^]*adam, learning rate 0\.1, groups of 4[^]*∞: most had not after 40\./,
    );
  });

  it('writes what the report reads', async () => {
    const path = join(tempDirectory(), 'sweep', 'reference.json');
    const file = await found('N=16', 'conditions=binary,log,trajectory');
    writeReference(path, file);
    expect(ReferenceFile.parse(JSON.parse(readFileSync(path, 'utf8')))).toEqual(file);
  });

  it('stops between two cells when it is told to', async () => {
    expect(await ideal(configOf('N=16', 'conditions=binary,B4,B8'), testWorld(2))).toBe('SIGTERM');
  });

  it.each([
    [['N=16,8192'], /N=8192 is more than can be enumerated here, 4096/],
    [['conditions=binary,B1'], /conditions=binary,B1 is not a value/],
    [['conditions=trinary'], /conditions=trinary is not a value/],
  ])('refuses %j', async (argv, words) => {
    const refused = await Promise.resolve()
      .then(() => found(...argv))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserError);
    expect((refused as Error).message).toMatch(words);
  });

  it('cannot write below a file', async () => {
    const file = await found('N=16', 'conditions=sft');
    expect(() => writeReference('/dev/null/reference.json', file)).toThrow(/cannot be written/);
  });
});

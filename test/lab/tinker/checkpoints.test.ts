import { cpSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findModel, readMerged } from '../../../src/lab/run/model-files.js';
import { Checkpoints } from '../../../src/lab/tinker/server/checkpoints.js';
import { tempDirectory } from '../temp-directory.js';

const lora = { rank: 1, seed: 0, trainUnembed: true, trainMlp: true, trainAttn: true };
const model = 'boot-s1:train:0';
const save = (checkpoints: Checkpoints, name: string, { content = name, ttl = null as number | null } = {}) =>
  checkpoints.write(
    { model, kind: 'weights', name, overwrite: true },
    { base: 'memrl/tiny', lora, ttl, metadata: null },
    async (directory) => writeFileSync(join(directory, 'weights'), content),
  );

it('weights that were being replaced when the service was killed are there after its next start', async () => {
  const home = tempDirectory();
  const path = await save(new Checkpoints(home, () => 0), 'kept');
  const { directory } = new Checkpoints(home, () => 0).open(path);
  // Between the two renames of a save, the old weights and the new ones both have names of drafts.
  cpSync(directory, `${directory}.draft`, { recursive: true });
  renameSync(directory, `${directory}~.draft`);
  const next = new Checkpoints(home, () => 0);
  expect(() => next.open(path)).toThrow('no weights');
  next.clean();
  expect(next.open(path).directory).toBe(directory);
  expect(next.ofModel(model)).toHaveLength(1);
  expect(existsSync(`${directory}.draft`) || existsSync(`${directory}~.draft`)).toBe(false);
});

it('weights are a model for any command by their path, where the service has saved them', async () => {
  const home = tempDirectory();
  const saved = findModel('SINGLE_STEP');
  const place = { model, kind: 'weights', name: 'w', overwrite: false } as const;
  const facts = { base: 'memrl/tiny', lora, ttl: null, metadata: null };
  const path = await new Checkpoints(home, () => 0).write(place, facts, async (directory) => {
    cpSync(saved, directory, { recursive: true });
  });
  expect(path).toBe(`tinker://${model}/weights/w`);
  expect((await readMerged(findModel(path, home))).weights).toEqual((await readMerged(saved)).weights);
  expect(() => findModel(`tinker://${model}/weights/other`, home)).toThrow(/There are no weights of tinker:.*other in/);
  for (const other of ['tinker://../weights/w', `tinker://${model}/weights/..`, `tinker://${model}/else/w`]) {
    expect(() => findModel(other, home)).toThrow(/is not a path of weights/);
  }
});

it('weights that have expired are not given out, and the next save of their model removes them', async () => {
  const time = { now: 0 };
  const checkpoints = new Checkpoints(tempDirectory(), () => time.now);
  const path = await save(checkpoints, 'short', { ttl: 10 });
  const { directory } = checkpoints.open(path);
  time.now = 10_000;
  expect(() => checkpoints.open(path)).toThrow('expired');
  expect(checkpoints.ofModel(model)).toEqual([]);
  expect(existsSync(directory)).toBe(true);
  await save(checkpoints, 'long');
  expect(existsSync(directory)).toBe(false);
  expect(checkpoints.ofModel(model).map((each) => each.path)).toEqual([`tinker://${model}/weights/long`]);
});

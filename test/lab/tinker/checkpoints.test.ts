import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findModel, readMerged } from '../../../src/lab/run/model-files.js';
import { Checkpoints } from '../../../src/lab/tinker/server/checkpoints.js';
import { allCheckpoints, trainingRuns } from '../../../src/lab/tinker/server/listings.js';
import { tempDirectory } from '../temp-directory.js';

const lora = { rank: 1, seed: 0, trainUnembed: true, trainMlp: true, trainAttn: true };
const model = 'boot-s1:train:0';
const save = (checkpoints: Checkpoints, name: string, { content = name, ttl = null as number | null } = {}) =>
  checkpoints.write(
    { model, kind: 'weights', name, overwrite: true },
    { base: 'memrl/tiny', lora, ttl, metadata: null },
    async (directory) => writeFileSync(join(directory, 'weights'), content),
  );

it('weights that were being replaced when the service was killed are restored at its next start', async () => {
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

it('weights are a model for any command by their tinker:// path, on the machine that saved them', async () => {
  const home = tempDirectory();
  const saved = findModel('SINGLE_STEP');
  const place = { model, kind: 'weights', name: 'w', overwrite: false } as const;
  const facts = { base: 'memrl/tiny', lora, ttl: null, metadata: null };
  const path = await new Checkpoints(home, () => 0).write(place, facts, async (directory) => {
    cpSync(saved, directory, { recursive: true });
  });
  expect(path).toBe(`tinker://${model}/weights/w`);
  expect((await readMerged(findModel(path, home))).weights).toEqual((await readMerged(saved)).weights);
  // The page names the directory with plus signs; with the colons of the path it is the same.
  expect(findModel(join(home, model, 'weights/w'))).toBe(findModel(path, home));
  expect(() => findModel(`tinker://${model}/weights/other`, home)).toThrow(/There are no weights of tinker:.*other in/);
  for (const other of ['tinker://../weights/w', `tinker://${model}/weights/..`, `tinker://${model}/else/w`]) {
    expect(() => findModel(other, home)).toThrow(/is not a tinker:\/\/ path of weights/);
  }
});

it('expired weights cannot be loaded, and the next save of their model removes them', async () => {
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

it('a failed save leaves the earlier weights and no partial ones', async () => {
  const checkpoints = new Checkpoints(tempDirectory(), () => 0);
  const path = await save(checkpoints, 'kept', { content: 'old' });
  const { directory } = checkpoints.open(path);
  const full = checkpoints.write(
    { model, kind: 'weights', name: 'kept', overwrite: true },
    { base: 'memrl/tiny', lora, ttl: null, metadata: null },
    async (draft) => {
      writeFileSync(join(draft, 'weights'), 'half');
      throw Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' });
    },
  );
  await expect(full).rejects.toThrow('full');
  expect(readdirSync(dirname(directory))).toEqual(['kept']);
  expect(readFileSync(join(directory, 'weights'), 'utf8')).toBe('old');
});

it('expired weights are removed before the next save of their model, and on deletion', async () => {
  const time = { now: 0 };
  const checkpoints = new Checkpoints(tempDirectory(), () => time.now);
  const paths = [await save(checkpoints, 'a', { ttl: 10 }), await save(checkpoints, 'b', { ttl: 10 })];
  const directories = paths.map((path) => checkpoints.open(path).directory);
  time.now = 10_000;
  checkpoints.remove(paths[0]!);
  expect(directories.map((each) => existsSync(each))).toEqual([false, true]);
  await checkpoints.write(
    { model, kind: 'weights', name: 'c', overwrite: true },
    { base: 'memrl/tiny', lora, ttl: null, metadata: null },
    async () => expect(existsSync(directories[1]!)).toBe(false),
  );
});

it('invalid entries and those of earlier versions do not keep the rest from being listed', async () => {
  const home = tempDirectory();
  const checkpoints = new Checkpoints(home, () => 0);
  const paths = [await save(checkpoints, 'a'), await save(checkpoints, 'b'), await save(checkpoints, 'c')];
  const manifestOf = (path: string) => join(checkpoints.open(path).directory, 'tinker.json');
  const spoil = (path: string, facts: object) => {
    const file = manifestOf(path);
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...facts }));
  };
  // An older service let weights live for so long that the end has no date.
  spoil(paths[0]!, { expires_at: 1e16 });
  spoil(paths[1]!, { saved_at: 1e17 });
  symlinkSync('nowhere', join(checkpoints.open(paths[2]!).directory, 'dangling'));
  mkdirSync(join(home, 'boot-s1+train+1'));
  writeFileSync(join(home, 'boot-s1+train+1', 'weights'), '');
  const listed = allCheckpoints(checkpoints);
  expect(listed.map(({ tinker_path: path }) => path).sort()).toEqual([paths[0], paths[2]]);
  expect(listed.find(({ tinker_path: path }) => path === paths[0])!.expires_at).toMatch(/^\+275760/);
  expect(trainingRuns(checkpoints)).toHaveLength(1);
});

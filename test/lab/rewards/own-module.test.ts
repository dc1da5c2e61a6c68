import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findDetector } from '../../../src/lab/rewards/detectors.js';
import { findReward } from '../../../src/lab/rewards/registry.js';
import { rng } from '../../../src/lab/rng.js';
import { tempDirectory } from '../temp-directory.js';
import { mistake, noScores, ofText, vocabulary } from './samples.js';

/** The path of a new module with this text. */
function moduleOf(text: string, name = 'mine.mjs'): string {
  const path = join(tempDirectory(), name);
  writeFileSync(path, text);
  return path;
}

const batch = ['a cat', '', 'happy'].map(ofText);
const scored = async (text: string, params = {}) => (await findReward(moduleOf(text), params, vocabulary)).score(batch);

describe('a user-written reward', () => {
  it('is the default export of a module, called with the completions and the parameters', async () => {
    const path = moduleOf('export default (all, { per }) => all.map(({ text }) => per * text.length);');
    const reward = await findReward(path, { per: 2 }, vocabulary);
    expect(reward.name).toBe('mine');
    expect(await reward.score(batch)).toEqual([10, 0, 10]);
  });

  it('may be async, and may return a typed array', async () => {
    expect(await scored('export default async (all) => all.map(() => 0.5);')).toEqual([0.5, 0.5, 0.5]);
    expect(await scored('export default (all) => new Float32Array(all.length);')).toEqual([0, 0, 0]);
  });

  it('with a relative path starts at the working directory', async () => {
    const path = moduleOf('export default (all) => all.map(() => 1);');
    const reward = await findReward(`./${relative('.', path)}`, {}, vocabulary);
    expect(await reward.score(batch)).toEqual([1, 1, 1]);
  });

  it('gets a fresh copy of its parameters at each call', async () => {
    const path = moduleOf('export default (all, params) => { params.n += 1; return all.map(() => params.n); };');
    const reward = await findReward(path, { n: 1 }, vocabulary);
    expect([await reward.score(batch), await reward.score(batch)]).toEqual([
      [2, 2, 2],
      [2, 2, 2],
    ]);
  });

  it.each([
    ['export default () => [1, 2];', /mine\.mjs` returned 2 numbers for 3 completions/],
    ['export default (all) => all.map(() => NaN);', /mine\.mjs` gave NaN for completion 0, "a cat"/],
    ['export default (all) => all.map((_, i) => i / (1 - i));', /gave Infinity for completion 1, ""/],
    ['export default (all) => all.map(() => "1");', /gave "1" for completion 0/],
    ['export default () => 3;', /returned 3 in place of 3 numbers/],
    ['export default async () => undefined;', /returned undefined in place of/],
    ['export default () => { throw new TypeError("oh no"); };', /mine\.mjs` failed: oh no/],
    ['export default async () => { throw "oh no"; };', /mine\.mjs` failed: oh no/],
    ['export default (all) => { all[0].text = "x"; return [0, 0, 0]; };', /mine\.mjs` failed: .*read only/],
    ['export default (all) => { all[0].ids.push(1); return [0, 0, 0]; };', /mine\.mjs` failed: .*not extensible/],
  ])('%s is refused when it scores', async (text, said) => {
    expect(await mistake(() => scored(text))).toMatch(said);
  });

  it.each([
    [
      'export default 3;',
      /mine\.mjs has no function as its default export.*export default function \(completions, params\)/s,
    ],
    ['export const score = () => [];', /no function as its default export/],
    ['export default (', /mine\.mjs cannot be loaded/],
    ['throw new Error("at once");', /cannot be loaded: at once/],
    ['import "no-such-package-anywhere"; export default () => [];', /cannot be loaded/],
  ])('%s is refused before the run', async (text, said) => {
    expect(await mistake(() => scored(text))).toMatch(said);
  });

  it('may be CommonJS; an error suggests .mjs when another extension does not load', async () => {
    const common = moduleOf('module.exports = (all) => all.map(() => 2);', 'mine.cjs');
    expect(await (await findReward(common, {}, vocabulary)).score(batch)).toEqual([2, 2, 2]);
    const wrong = moduleOf('module.exports = (', 'mine.cjs');
    expect(await mistake(() => findReward(wrong, {}, vocabulary))).toMatch(/cannot be loaded.*name it \.mjs/s);
  });

  it('is refused when the file does not exist', async () => {
    expect(await mistake(() => findReward('./no-such.mjs', {}, vocabulary))).toMatch(
      /There is no file \/.*no-such\.mjs/,
    );
  });
});

describe('a user-written detector', () => {
  const flagged = async (text: string) => {
    const detector = await findDetector({ name: moduleOf(text), params: { least: 1 }, component: null });
    return detector.flags(batch, { ...noScores(batch), rewards: [0, 1, 2] }, rng(0, 'x'));
  };

  it('is called with the completions, its parameters and the scores', async () => {
    const text = 'export default (all, { least }, { rewards }) => all.map((_, i) => rewards[i] >= least);';
    expect(await flagged(text)).toEqual([false, true, true]);
  });

  it.each([
    ['export default (all) => all.map(() => 1);', /gave 1 for completion 0.*true or false/s],
    ['export default async (all) => all.map(() => true);', /returned a promise in place of 3 booleans/],
    ['export default () => [];', /returned 0 booleans for 3 completions/],
    ['export default () => { throw new Error("oh no"); };', /The detector `.*mine\.mjs` failed: oh no/],
  ])('%s is refused', async (text, said) => {
    expect(await mistake(() => flagged(text))).toMatch(said);
  });
});

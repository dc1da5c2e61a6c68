import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { duration, gpuList, oneOf, requestedSlots, runsDirectory, wholeNumber } from '../../src/cli/options.js';
import { removeFolder } from '../remove-folder.js';

describe('GPUs on the command line', () => {
  it.each<[string, number[] | 'none']>([
    ['0,1', [0, 1]],
    ['3,1', [3, 1]],
    ['1:0,0', [2000, 0]],
    ['2,2', [2]],
    ['none', 'none'],
  ])('%s are, in the order of preference, %j', (text, gpus) => {
    expect(requestedSlots({ gpus: text })).toEqual({ gpus });
  });

  it.each(['', 'a', '0,', '-1', '1:', '0;1', 'none,0'])('are not %j', (text) => {
    expect(() => requestedSlots({ gpus: text })).toThrow(`--gpus ${text} is not a list of GPUs`);
  });

  it('say which option they were given to', () => {
    expect(() => gpuList('drain', ['x'])).toThrow('drain x is not a list of GPUs: "x" is none.');
  });
});

describe('a length of time', () => {
  it.each<[string, number]>([
    ['90', 90],
    ['0.5', 0.5],
    ['90s', 90],
    ['30m', 1800],
    ['1h30m', 5400],
    ['1d', 86_400],
  ])('of %s is %d seconds', (text, seconds) => {
    expect(duration('--timeout')(text)).toBe(seconds);
  });

  it.each(['', 'soon', '-1', '2 h', '1e9h', 'h'])('is not %j', (text) => {
    expect(() => duration('--timeout')(text)).toThrow('is not a length of time');
  });
});

it('refuses a word and a number that it does not know', () => {
  expect(oneOf('--format', ['csv', 'json'])('csv')).toBe('csv');
  expect(() => oneOf('--format', ['csv', 'json'])('CSV')).toThrow('--format CSV is not known.');
  expect(wholeNumber('--slots', 1)('3')).toBe(3);
  for (const text of ['0', '1.5', '', 'x']) expect(() => wholeNumber('--slots', 1)(text)).toThrow('at least 1');
});

describe('a runs directory', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'memrl-runs-'));
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
  });
  afterEach(() => removeFolder(folder));

  it('need not be there', () => {
    expect(runsDirectory(folder)).toBe(folder);
    expect(runsDirectory(join(folder, 'a/b'))).toBe(join(folder, 'a/b'));
    expect(runsDirectory(undefined)).toBe(resolve('runs'));
  });

  it.each([
    ['', '--runs is empty'],
    ['  ', '--runs is empty'],
    ['file', 'is a file'],
    ['file/runs', 'not a directory'],
    ['loop', 'symbolic link'],
    [`long${'x'.repeat(300)}`, 'too long'],
    ['/dev/null', 'is a file'],
  ])('cannot be %j', (given, why) => {
    expect(() => runsDirectory(given.trim() === '' ? given : resolve(folder, given))).toThrow(why);
  });

  // To make a folder there does not end.
  it.runIf(process.platform === 'linux').each(['/proc', '/proc/none/runs', '/sys'])('cannot be %s', (given) => {
    expect(() => runsDirectory(given)).toThrow('made by the system');
  });
});

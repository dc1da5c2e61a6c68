import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requestedSets } from '../../../src/cli/options.js';
import { leftOutNow, optionWords, saidBy, withLeftOut } from '../../../src/cli/launch/read.js';
import { computedFromSeeds, readLaunchOverrides, writeLaunchOverrides } from '../../../src/files/sweep-folder.js';
import { removeFolder } from '../../remove-folder.js';

let sweep: string;
beforeEach(() => void (sweep = mkdtempSync(join(tmpdir(), 'said-at-launch-'))));
afterEach(() => removeFolder(sweep));

describe('what a launch says beside its file', () => {
  it('is kept for the next one', () => {
    writeLaunchOverrides(sweep, { ...saidBy({ set: ['n=5', 'A.N=[16, 64]'], perGpu: 2 }), fromSeeds: ['secret'] });
    expect(computedFromSeeds(sweep)).toEqual(['secret']);
    expect(readLaunchOverrides(sweep)).toEqual({ set: ['n=5', 'A.N=[16, 64]'], perGpu: 2 });
  });

  it.each(['', 'no JSON', '{"set":"n=5"}', '[]'])('is nothing where the file of it says %j', (text) => {
    expect(readLaunchOverrides(sweep)).toEqual({ set: [] });
    writeFileSync(join(sweep, 'launch.json'), text);
    expect(readLaunchOverrides(sweep)).toEqual({ set: [] });
  });

  it.each([
    { now: {}, left: "--set n=5 --set 'A.N=[16, 64]' --per-gpu 2" },
    { now: { set: ['n=5'] }, left: "--set 'A.N=[16, 64]' --per-gpu 2" },
    { now: { set: ['n=7', 'A.N=8'], perGpu: 1 }, left: null },
    { now: { set: ['N=8'], perGpu: 4 }, left: "--set n=5 --set 'A.N=[16, 64]'" },
  ])('is missed at the next one, but for what that says otherwise: $now', ({ now, left }) => {
    writeLaunchOverrides(sweep, { ...saidBy({ set: ['n=5', 'A.N=[16, 64]'], perGpu: 2 }), fromSeeds: [] });
    const missed = leftOutNow(sweep, now);
    expect(missed === null ? null : optionWords(missed)).toBe(left);
  });

  it('is a W&B project, in the words in which it was said', () => {
    writeLaunchOverrides(sweep, { ...saidBy({ wandbProject: 'my runs', set: ['n=5'] }), fromSeeds: [] });
    const missed = leftOutNow(sweep, { set: ['n=5'] })!;
    expect(optionWords(missed)).toBe("--wandb-project 'my runs'");
    expect(requestedSets(withLeftOut({ set: ['n=5'] }, missed))).toEqual(['env.WANDB_PROJECT=my runs', 'n=5']);
    expect(leftOutNow(sweep, { set: ['n=5'], wandbProject: 'other' })).toBeNull();
  });

  it('is a start time, until that has come', () => {
    const said = (at: string) => writeLaunchOverrides(sweep, { ...saidBy({ at }), fromSeeds: [] });
    said('2999-12-01 22:00:00+01:00');
    expect(optionWords(leftOutNow(sweep, {})!)).toBe("--at '2999-12-01 22:00:00+01:00'");
    expect(leftOutNow(sweep, { at: '2999-12-02 22:00:00+01:00' })).toBeNull();
    said('2020-12-01 22:00:00+01:00');
    expect(leftOutNow(sweep, {})).toBeNull();
  });

  it('is added to what the next one says, which counts where both say it', () => {
    const kept = withLeftOut({ set: ['m=1'], slots: 3 }, { set: ['n=5'], perGpu: 2 });
    expect(kept).toEqual({ set: ['n=5', 'm=1'], perGpu: 2, slots: 3 });
  });
});

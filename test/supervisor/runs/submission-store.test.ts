import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/spec/planned-run.js';
import { SubmissionStore } from '../../../src/supervisor/runs/submission-store.js';
import { plan } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

let runs: string;
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'submissions-'));
});
afterEach(() => removeFolder(runs));

const folder = () => join(runs, '.supervisor', 'plans');
const aPlan = (): Plan =>
  plan(
    runs,
    's',
    Array.from({ length: 1500 }, (_, n) => ({ parameters: { n } })),
  );

async function kept(): Promise<string> {
  return new SubmissionStore(runs).add(aPlan(), { HOME: '/home/me' });
}

describe('the run submissions', () => {
  it.each([
    { how: 'at once', prepare: false },
    { how: 'in turns', prepare: true },
  ])('gives back what was kept, $how', async ({ prepare }) => {
    const key = await kept();
    const submissions = new SubmissionStore(runs);
    if (prepare) await submissions.prepare([key]);
    expect(submissions.of(key).plan).toEqual(aPlan());
    expect(submissions.of(key).environment).toEqual({ HOME: '/home/me' });
  });

  it('keeps the same plan once, and leaves no draft', async () => {
    expect(await kept()).toBe(await kept());
    expect(readdirSync(folder())).toHaveLength(1);
  });

  it.each([
    { what: 'changed', harm: (text: string) => text.replace('"n":7}', '"n":8}') },
    { what: 'cut', harm: (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1) },
    { what: 'emptied', harm: () => '' },
  ])('does not take a plan for its own that somebody has $what', async ({ harm }) => {
    const key = await kept();
    const path = join(folder(), `${key.split('/')[0]!}.json`);
    writeFileSync(path, harm(readFileSync(path, 'utf8')));
    const submissions = new SubmissionStore(runs);
    await submissions.prepare([key]);
    expect(() => submissions.of(key)).toThrow(`${path} cannot be read`);
  });

  it.each([{ prepare: false }, { prepare: true }])(
    'knows the rest of a plan in which a newer version has written keys that are not known (in turns: $prepare)',
    async ({ prepare }) => {
      const { runs: planned, groups, ...frame } = aPlan();
      const newer = {
        ...{ ...frame, colour: 'red', groups: groups.map((group) => ({ ...group, mood: 'good' })) },
        runs: planned.map((run) => ({ ...run, taste: 'sweet' })),
      };
      const key = await new SubmissionStore(runs).add(newer, { HOME: '/home/me' });
      const submissions = new SubmissionStore(runs);
      if (prepare) await submissions.prepare([key]);
      expect(submissions.of(key).plan).toEqual(aPlan());
    },
  );

  it('writes again what somebody has deleted, so that it is found', async () => {
    const submissions = new SubmissionStore(runs);
    const key = await submissions.add(aPlan(), {});
    rmSync(folder(), { recursive: true });
    await submissions.secure();
    expect(new SubmissionStore(runs).of(key).plan).toEqual(aPlan());
  });

  it('writes a plan again that an older version has put into other words, so that it is found', async () => {
    const older = { ...aPlan(), colour: 'red' };
    const key = await new SubmissionStore(runs).add(older, {});
    const submissions = new SubmissionStore(runs);
    await submissions.prepare([key]);
    rmSync(folder(), { recursive: true });
    await submissions.secure();
    const next = new SubmissionStore(runs);
    await next.prepare([key]);
    expect(next.of(key).plan).toEqual(aPlan());
  });

  it('reads plans of version 1', async () => {
    const environment = (await kept()).split('/')[1]!;
    const text = JSON.stringify(aPlan());
    const name = createHash('sha256').update(text).digest('hex').slice(0, 16);
    writeFileSync(join(folder(), `${name}.json`), text);
    const submissions = new SubmissionStore(runs);
    await submissions.prepare([`${name}/${environment}`]);
    expect(submissions.of(`${name}/${environment}`).plan).toEqual(aPlan());
  });
});

import { getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Resources } from '../../src/spec/planned-run.js';
import { refuseNiceness } from '../../src/launch/niceness.js';
import { plan } from '../supervisor/testbed.js';

const runs = (...nice: number[]) =>
  plan(
    '/runs',
    's',
    nice.map((each) => ({ resources: Resources.parse({ nice: each }) })),
  ).runs;

describe('runs that are to go before others', () => {
  it.each([
    { what: 'refused where they would not', nice: [0, -5, 3], gets: () => getPriority(), isRefused: true },
    { what: 'refused where they would, but less', nice: [-5], gets: () => getPriority() - 2, isRefused: true },
    { what: 'started where they would', nice: [-5, 0], gets: (nice: number) => getPriority() + nice, isRefused: false },
    { what: 'started where nobody can say', nice: [-5], gets: () => null, isRefused: false },
  ])('are $what', async ({ nice, gets, isRefused }) => {
    const asked = refuseNiceness(runs(...nice), {}, (each) => Promise.resolve(gets(each)));
    if (isRefused) await expect(asked).rejects.toThrow('The runs of group main have `nice: -5`');
    else await expect(asked).resolves.toBeUndefined();
  });

  it('need not be asked about where they are nicer', async () => {
    const asked: number[] = [];
    await refuseNiceness(runs(0, 5), {}, (each) => Promise.resolve(asked.push(each)));
    expect(asked).toEqual([]);
  });
});

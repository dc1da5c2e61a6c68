import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Stay } from '../../../src/lab/probes/stay.js';

const row = (bits: number) => ({ 'test/bits/answer_raw': bits });

describe('the stay of a memorised secret', () => {
  it('ends a run after enough evaluations in a row, and restarts its count after one below', () => {
    const stay = new Stay(10, 3);
    const found = [9.5, 9.6, 9.4, 10, 10, 10].map((bits) => {
      stay.see(row(bits));
      return stay.enough();
    });
    expect(found).toEqual([null, null, null, null, null, 'memorised at 3 evaluations in a row']);
  });

  it('never ends a run without a limit, and adds nothing when no bits were measured', () => {
    const stay = new Stay(10, null);
    expect(stay.see({ loss: 1 })).toEqual({ loss: 1 });
    for (let index = 0; index < 500; index++) stay.see(row(10));
    expect(stay.enough()).toBeNull();
  });

  it('counts a secret as lost only after a long stay, also across a restart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 6 }), fc.nat(), (stays, cut) => {
        const evaluations = stays.flatMap((length) => [...Array<number>(length).fill(10), 3]);
        const whole = new Stay(10, null);
        const [first, second] = [new Stay(10, null), new Stay(10, null)];
        const at = evaluations.length === 0 ? 0 : cut % evaluations.length;
        for (const bits of evaluations) whole.see(row(bits));
        for (const bits of evaluations.slice(0, at)) first.see(row(bits));
        second.restore(first.state);
        for (const bits of evaluations.slice(at)) second.see(row(bits));
        expect(second.state).toEqual(whole.state);
        expect(whole.state.lost).toBe(stays.filter((length) => length >= 100).length);
      }),
    );
  });
});

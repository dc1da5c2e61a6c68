import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pointer } from '../../../src/tui/app/pointer.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the pointer', () => {
  it('is told once a frame, and where it is then', () => {
    const told: number[] = [];
    const pointer = new Pointer(({ column }) => told.push(column));
    for (let column = 0; column < 100; column++) pointer.hear({ column, row: 1 });
    vi.advanceTimersByTime(16);
    expect(told).toEqual([99]);
    pointer.hear({ column: 7, row: 1 });
    vi.advanceTimersByTime(16);
    expect(told).toEqual([99, 7]);
  });

  it('is told no more once the window is closed', () => {
    const tell = vi.fn();
    const pointer = new Pointer(tell);
    pointer.hear({ column: 1, row: 1 });
    pointer.close();
    vi.advanceTimersByTime(1000);
    expect(tell).not.toHaveBeenCalled();
  });
});

import { describe, expect, it, vi } from 'vitest';
import { lazy, withLazy } from '../../src/base/lazy.js';

describe('what is worked out late', () => {
  it('is worked out once, and only when it is asked for', () => {
    const make = vi.fn(() => 7);
    const value = lazy(make);
    expect(make).not.toHaveBeenCalled();
    expect([value(), value()]).toEqual([7, 7]);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('is a field like any other of an object', () => {
    const [far, near] = [vi.fn(() => 'far'), vi.fn(() => 'near')];
    const all = withLazy({ known: 1 }, { far, near });
    expect([all.known, all.far, all.far]).toEqual([1, 'far', 'far']);
    expect(far).toHaveBeenCalledTimes(1);
    expect(near).not.toHaveBeenCalled();
    expect({ ...all }).toEqual({ known: 1, far: 'far', near: 'near' });
  });
});

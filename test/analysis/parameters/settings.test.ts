import { describe, expect, it } from 'vitest';
import { tellingParameter } from '../../../src/analysis/parameters/settings.js';

const runs = [0, 1, 2, 3].map((at) => ({ seed: at % 2, name: `r${at}`, N: 64, lr: at > 1 ? 0.1 : 1 }));

describe('the parameter that tells many runs apart', () => {
  it.each<{ names: string[]; most: number; found: string | null }>([
    { names: ['seed', 'N', 'name', 'lr'], most: 3, found: 'lr' },
    { names: ['seed', 'N', 'name', 'lr'], most: 4, found: 'name' },
    { names: ['lr', 'name'], most: 4, found: 'lr' },
    { names: ['seed', 'N', 'missing'], most: 8, found: null },
  ])('among $names with at most $most values: $found', ({ names, most, found }) => {
    expect(tellingParameter(names, runs, most)).toBe(found);
  });
});

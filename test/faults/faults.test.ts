import { expect, it } from 'vitest';
import { ordeal } from './ordeal.js';

it('of a hundred runs none is lost, doubled or misreported while the supervisor is killed again and again', async () => {
  const figure = await ordeal({ kills: 20, short: 80, seed: 2 });
  expect(figure.violations).toEqual([]);
  expect(figure.kills).toBeGreaterThanOrEqual(20);
  expect(figure.alive).toBeGreaterThanOrEqual(100);
}, 120_000);

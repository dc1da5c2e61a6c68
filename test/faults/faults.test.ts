import { expect, it } from 'vitest';
import { ordeal } from './ordeal.js';

it('of a hundred runs none is lost, doubled or misreported while the supervisor is killed again and again', async () => {
  const figure = await ordeal({ kills: 30, short: 150, seed: 1 });
  expect(figure.violations).toEqual([]);
  expect(figure.kills).toBeGreaterThanOrEqual(30);
  expect(figure.alive).toBeGreaterThanOrEqual(100);
}, 120_000);

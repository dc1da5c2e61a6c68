import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Most of the time goes into waiting for processes and screens: one file does not keep one core busy.
    maxWorkers: 2,
    include: ['test/**/*.test.{ts,tsx}'],
    // Real processes and pseudo-terminals on two cores: patience is cheaper than a flaky red.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

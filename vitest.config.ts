import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Most of the time goes into waiting for processes and screens: one core is not enough to be kept busy by one file.
    maxWorkers: 3,
    include: ['test/**/*.test.{ts,tsx}'],
    // Real processes and pseudo-terminals on two cores: patience is cheaper than a flaky red.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});

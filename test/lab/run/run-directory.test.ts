import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keepConfig, openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { tempDirectory } from '../temp-directory.js';

describe('a run directory', () => {
  it('is created with all its parents, and refused when a file is in the way', () => {
    const path = join(tempDirectory(), 'a/b');
    openRunDirectory(path);
    writeFileSync(join(path, 'file'), '');
    expect(() => openRunDirectory(join(path, 'file/run'))).toThrow(/cannot be made/);
  });

  it('keeps its settings, lets the budget change, and refuses other settings once there is a checkpoint', () => {
    const directory = openRunDirectory(tempDirectory());
    const budget = new Set(['n_batches']);
    keepConfig(directory, { N: 7, n_batches: 10 }, budget);
    writeFileSync(join(directory.path, 'checkpoints.jsonl'), '');
    keepConfig(directory, { N: 16, n_batches: 10 }, budget);
    writeFileSync(join(directory.path, 'checkpoints.jsonl'), '{"name":"000001","batch":1,"state_path":"x"}\n');
    keepConfig(directory, { N: 16, n_batches: 10 }, budget);
    keepConfig(directory, { N: 16, n_batches: 20, a_new_key: 1 }, budget);
    expect(JSON.parse(readFileSync(join(directory.path, 'config.json'), 'utf8'))).toEqual({
      N: 16,
      n_batches: 20,
      a_new_key: 1,
    });
    expect(() => keepConfig(directory, { N: 64, n_batches: 20 }, budget)).toThrow(
      /holds a run with N=16, and this one has N=64/,
    );
    writeFileSync(join(directory.path, 'config.json'), '{"N": 1');
    keepConfig(directory, { N: 64 }, budget);
  });
});

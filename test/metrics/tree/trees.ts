import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type FoundRuns, RunSearch, type SearchBounds } from '../../../src/metrics/tree/find-runs.js';
import { removeFolder } from '../../remove-folder.js';

/** All that one search finds. */
export function found(
  root: string,
  bounds: Partial<SearchBounds> = {},
  search = new RunSearch(root, bounds),
): FoundRuns {
  const steps = search.search();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Makes trees of folders with these files, by path; they are removed after the tests of the file. */
export function treeMaker(): (files: Readonly<Record<string, string>>) => string {
  const temporary = mkdtempSync(join(tmpdir(), 'trees-'));
  afterAll(() => removeFolder(temporary));
  let trees = 0;
  return (files) => {
    const root = join(temporary, `tree-${trees++}`);
    mkdirSync(root);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return root;
  };
}

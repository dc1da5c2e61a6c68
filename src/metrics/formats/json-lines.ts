import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { lineFormat } from './line-format.js';

/** What our own lab and the tinker-cookbook write, and any program can: a JSON object for each row, with the step in it. */
export const jsonLines = lineFormat({
  name: 'JSON lines',
  detect: (runDirectory) => [join(runDirectory, runFiles.metrics)],
  parser: () => parseJsonLine,
});

/** Format beside types and lint: one after the other, they leave half of two cores idle. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const checks = ['oxfmt --check .', 'oxlint'];
const options = {
  cwd: dirname(dirname(fileURLToPath(import.meta.url))),
  preferLocal: true,
  all: true,
  reject: false,
  stdin: 'ignore',
  env: {
    FORCE_COLOR: process.stdout.isTTY ? '1' : '0',
    // Nearly all that the linter has read it needs to its end: to look for garbage takes a quarter of its time.
    GOGC: 'off',
    GOMEMLIMIT: '3GiB',
  },
};

const results = await Promise.all(checks.map(check));
process.exitCode = results.every(({ failed }) => !failed) ? 0 : 1;

async function check(line) {
  const [program, ...words] = line.split(' ');
  const result = await execa(program, words, options);
  console.log(`${result.failed ? '✗' : '✓'} ${line}\n${result.all}`.trim());
  return result;
}

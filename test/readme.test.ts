import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { verbTableMarkdown } from '../src/cli/verb-table.js';
import { expandSweep } from '../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../src/spec/file/parse-sweep-file.js';
import { keyTableMarkdown } from '../src/tui/key-map.js';

const readme = readFileSync('README.md', 'utf8');

describe('the README', () => {
  it('shows the keys that the window has, and the verbs of the command line (`npm run tables` writes them)', () => {
    expect(readme).toContain(`\n${keyTableMarkdown()}\n`);
    expect(readme).toContain(`\n${verbTableMarkdown()}\n`);
  });

  it('names only files that exist', () => {
    const files = [...readme.matchAll(/\]\(((?!https?:)[^)#]+)\)|`((?:sweeps|docs|src|test|scripts)\/[\w./-]+)`/g)];
    const missing = files.map(([, link, path]) => (link ?? path)!).filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });

  it('shows a sweep file that is one', () => {
    const [, text] = /```yaml\n([^]*?)```/.exec(readme)!;
    const options = { runsDirectory: '/runs', cwd: '/', environment: {} };
    const { runs } = expandSweep(parseSweepFile(text!, 'README.yaml'), options);
    expect(runs.map(({ name }) => name).slice(0, 3)).toEqual(['prepare', 'lr0.001_s0', 'lr0.0003_s0']);
    expect(runs[1]!.argv).toContain('--warmup=100');
  });

  it('names only scripts that package.json has', () => {
    const named = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
  });

  it('begins with the command that does it all', () => {
    const [first] = [...readme.matchAll(/```sh\n(.*)/g)];
    expect(first![1]).toContain('npm ci && npx memrl-tui sweeps/abcd.yaml');
  });
});

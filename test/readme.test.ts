import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { manualPage, verbTableMarkdown } from '../src/cli/verb-pages.js';
import { detectorNames } from '../src/lab/rewards/detectors.js';
import { rewardNames } from '../src/lab/rewards/registry.js';
import { withPublishedSettings } from '../src/report/published-settings.js';
import { expandSweep } from '../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../src/spec/file/parse-sweep-file.js';
import { keyTableMarkdown } from '../src/tui/screens/key-map.js';
import { nightTable } from './supervisor/runs/nights.js';

const readme = readFileSync('README.md', 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync('docs').filter((name) => name.endsWith('.md'))].map(
  (name) => (existsSync(name) ? name : join('docs', name)),
);

/** The sweep files that the README shows, expanded. */
function sweepsShown(): { readonly name: string; readonly argv: readonly string[] }[][] {
  return [...readme.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => {
    const options = { runsDirectory: '/runs', cwd: '/', environment: {} };
    return [...expandSweep(parseSweepFile(text!, 'first.yaml'), options).runs];
  });
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```/gm, '');
}

/** The headings of a page that begin so. */
function headingsOf(text: string, level: RegExp): string[] {
  return withoutCode(text)
    .split('\n')
    .filter((line) => level.test(line))
    .map((line) => line.replace(/^#+ /, ''));
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
}

/** The lines of a page that are prose: neither code, nor a row of a table, nor written by `npm run tables`. */
function proseOf(text: string): string[] {
  const own = withoutCode(text).replaceAll(/<!-- ([\w ]+): begin[^]*?<!-- \1: end -->/g, '');
  return own.split('\n').filter((line) => !/^ *\||^(?:- )?Settings of `|^ *`[^`]*`\S*$/.test(line));
}

describe('the README', () => {
  it('shows sweep files that are ones: the first for a script of six runs, the second with what groups can do', () => {
    const [first, second] = sweepsShown();
    expect(first!.map(({ argv }) => argv.slice(2).join(' '))).toContain('--seed=0 --lr=0.02');
    expect(first).toHaveLength(6);
    expect(second!.map(({ name }) => name).slice(0, 3)).toEqual(['prepare', 'lr0.001_s0', 'lr0.0003_s0']);
    expect(second![1]!.argv).toContain('--warmup=100');
  });

  it('begins with the command that does it all', () => {
    const [first] = [...readme.matchAll(/```sh\n(.*)/g)];
    expect(first![1]).toContain('npm ci && npx memrl-tui sweeps/abcd.yaml');
  });

  it('leads to every page', () => {
    expect(pages.filter((page) => page !== 'README.md' && !readme.includes(`](${page})`))).toEqual([]);
  });
});

describe('the pages', () => {
  it('show the keys that the window has, and the verbs of the command line (`npm run tables` writes them)', () => {
    expect(readFileSync('docs/keys.md', 'utf8')).toContain(`\n${keyTableMarkdown()}\n`);
    expect(readFileSync('docs/commands.md', 'utf8')).toContain(`\n${verbTableMarkdown()}\n`);
    expect(readFileSync('docs/memrl-tui.1', 'utf8')).toBe(manualPage());
  });

  it('show what a breaker holds (`npm run tables` writes it)', () => {
    expect(readFileSync('docs/breaker.md', 'utf8')).toContain(`\n${nightTable()}\n`);
  });

  it.each(pages)('name only files that exist: %s', (page) => {
    const text = readFileSync(page, 'utf8');
    const links = [...text.matchAll(/\]\(((?!https?:)[^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) =>
      join(dirname(page), link!),
    );
    const paths = [...text.matchAll(/`((?:sweeps|docs|src|test|scripts)\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(pages)('lead to sections that exist: %s', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(((?!https?:)[^)#]*)#([^)]+)\)/g)].map(
      ([, path, anchor]) => ({
        path: path === '' ? page : join(dirname(page), path!),
        anchor: anchor!,
      }),
    );
    const isThere = ({ path, anchor }: { path: string; anchor: string }) =>
      !path.endsWith('.md') || headingsOf(readFileSync(path, 'utf8'), /^#+ /).some((name) => anchorOf(name) === anchor);
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });

  it.each(pages)('begin with their contents if they have more than 200 lines: %s', (page) => {
    const text = readFileSync(page, 'utf8');
    if (text.split('\n').length <= 200) return;
    const beginning = text.slice(0, text.search(/^## /m));
    const sections = headingsOf(text, /^## /);
    expect(sections.filter((name) => !beginning.includes(`](#${anchorOf(name)})`))).toEqual([]);
  });

  it.each(pages)('have lines of at most 160 characters, but for tables and what is typed: %s', (page) => {
    expect(proseOf(readFileSync(page, 'utf8')).filter(({ length }) => length > 160)).toEqual([]);
  });

  it('name every reward and detector of the lab', () => {
    const text = readFileSync('docs/small-rl.md', 'utf8');
    expect([...rewardNames, ...detectorNames].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it('say the settings of a published table as its sweep file does (`npm run tables` writes them)', () => {
    const texts = pages.map((page) => readFileSync(page, 'utf8'));
    const read = (path: string) => readFileSync(path, 'utf8');
    expect(texts.join('').split('Settings of `').length).toBeGreaterThan(3);
    for (const text of texts) expect(text).toBe(withPublishedSettings(text, read));
  });

  it.each(pages)('name only scripts that package.json has: %s', (page) => {
    const named = [...readFileSync(page, 'utf8').matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
  });
});

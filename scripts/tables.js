/**
 * `npm run tables`: writes the tables of verbs, exit codes and keys into docs/, from the tables the programs themselves use, the
 * verdicts on claims, what a breaker holds in simulated nights, the schemas of `--json`, and beside published tables the settings of
 * their sweep files.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readArguments } from './arguments.js';

readArguments({}, 0);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

const later = {
  name: 'what is imported later is not bundled',
  setup: ({ onResolve }) =>
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined)),
};

const { keyTableMarkdown } = await load('src/tui/screens/key-map.ts');
const { toolTableMarkdown, verbTableMarkdown } = await load('src/cli/verb-pages.ts');
const { exitCodesMarkdown } = await load('src/cli/answers/exit-codes.ts');
const { schemaFiles } = await load('src/cli/answers/json-schema.ts');
const { headlineMarkdown, claimsMarkdown, storedSections } = await load('src/lab/study/claims/claims-page.ts');
const sources = {
  page: (page) => readFileSync(join(root, page), 'utf8'),
  stored: (sweep) => {
    const path = join(root, 'docs/claims', `${sweep}.json`);
    return existsSync(path) ? storedSections(readFileSync(path, 'utf8')) : null;
  },
};
const { nightTable } = await load('test/supervisor/runs/nights.ts');
for (const [name, page, table] of [
  ['nights', 'docs/breaker.md', nightTable()],
  ['keys', 'docs/keys.md', keyTableMarkdown()],
  ['verbs', 'docs/commands.md', verbTableMarkdown()],
  ['exit codes', 'docs/commands.md', exitCodesMarkdown()],
  ['tools', 'docs/agents.md', toolTableMarkdown()],
  ['claims', 'docs/claims.md', claimsMarkdown(sources)],
  ['verdicts', 'README.md', headlineMarkdown(sources)],
]) {
  const path = join(root, page);
  const text = readFileSync(path, 'utf8');
  const marks = new RegExp(`(<!-- ${name}: begin[^>]*-->\\n)[^]*?(<!-- ${name}: end -->)`);
  if (!marks.test(text))
    throw new Error(`${page} has lost its marks <!-- ${name}: begin --> and <!-- ${name}: end -->.`);
  writeFileSync(
    path,
    text.replace(marks, (_all, begin, end) => `${begin}\n${table}\n\n${end}`),
  );
}

const { manualPage } = await load('src/cli/verb-pages.ts');
writeFileSync(join(root, 'docs/memrl-tui.1'), manualPage());

const schemaFolder = join(root, 'docs/json');
rmSync(schemaFolder, { recursive: true, force: true });
mkdirSync(schemaFolder);
for (const [name, text] of Object.entries(schemaFiles())) writeFileSync(join(schemaFolder, name), text);

const { withPublishedSettings } = await load('src/report/published-settings.ts');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
for (const path of ['README.md', ...pages.map((name) => `docs/${name}`)].map((name) => join(root, name))) {
  const text = readFileSync(path, 'utf8');
  const written = withPublishedSettings(text, (file) => readFileSync(join(root, file), 'utf8'));
  if (written !== text) writeFileSync(path, written);
}

/** The exports of one module; what it would load only when a verb is called or a screen drawn stays away. */
async function load(entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    plugins: [later],
    // Some packages ask for modules of Node as CommonJS does.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/');" },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

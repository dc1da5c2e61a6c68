import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'src');

/**
 * Modules that memrl-tui imports on demand, by the part that is loaded with them. A module that is not listed is a part of its own.
 * The exports of a part's modules have different names, as each import on demand sees those of all.
 */
const parts = {
  launching: ['cli/launch/launch.ts', 'cli/verbs/grid.ts'],
  window: ['cli/verbs/attach.ts', 'cli/sweep-window.ts'],
  // After the first picture. `mount-app.tsx`, a part of its own, awaits these as it is loaded.
  screens: [...filesOf('tui/screens', (file) => file.endsWith('-screen.tsx')), 'tui/surface/graphics/picture-layer.ts'],
  looking: [
    ...verbs('ls', 'status', 'du', 'wait', 'logs', 'report', 'export'),
    'cli/print-report.ts',
    'cli/logs/events.ts',
  ],
  acting: ['cli/act-on-runs.ts', ...verbs('slots', 'clean', 'annotate', 'restart')],
  seldom: verbs('init', 'extend', 'doctor', 'completion'),
  hosts: ['elsewhere', 'there', 'remote-window', 'relay'].map((name) => `cli/hosts/${name}.ts`),
  executors: ['executors/local/local-executor.ts', 'executors/slurm/slurm-executor.ts'],
};

/** Modules that need no large package but zod, and that most parts need. */
const common = ['base', 'client', 'contract', 'files', 'processes', 'protocol', 'query', 'text'].flatMap((room) =>
  filesOf(room, (file) => !['pattern.ts', 'completion-facts.ts', 'discard.ts'].includes(file)),
);

/**
 * Keeps the number of the program's files small: Node needs about 0.6 ms of CPU time to load one.
 *
 * The bundler makes a file of whatever the same set of parts needs. If every module were a part there would be 190 files, half of them
 * smaller than 3 KB, and a launch would load 130; as every part needs `common`, it is one file.
 */
export const programParts = {
  name: 'program-parts',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^\./ }, async ({ kind, path, resolveDir, importer, pluginData }) => {
      // A program begins with little, so that it can answer before the rest is there.
      if (pluginData === programParts || kind !== 'dynamic-import' || !isInParts(importer)) return;
      const { path: file } = await resolve(path, { kind: 'dynamic-import', resolveDir, pluginData: programParts });
      const [part] = Object.entries(parts).find(([, files]) => files.map(pathOf).includes(file)) ?? [];
      return { path: part ?? file, namespace: 'part' };
    });
    onLoad({ filter: /./, namespace: 'part' }, ({ path }) => ({
      contents: [
        ...common.map((file) => `import ${JSON.stringify(pathOf(file))};`),
        ...(parts[path] ?? [path]).map((file) => `export * from ${JSON.stringify(pathOf(file))};`),
      ].join('\n'),
      resolveDir: source,
    }));
  },
};

/** Whether what a file imports on demand is grouped: in the rooms that make up memrl-tui. */
function isInParts(file) {
  return ['cli', 'client', 'executors', 'report', 'tui', 'view'].some((room) =>
    file.startsWith(join(source, room, '/')),
  );
}

function verbs(...names) {
  return names.map((name) => `cli/verbs/${name}.ts`);
}

function filesOf(room, isChosen) {
  const all = readdirSync(join(source, room), { recursive: true });
  return all.filter((file) => /\.tsx?$/.test(file) && isChosen(basename(file))).map((file) => join(room, file));
}

function pathOf(file) {
  return file.startsWith(source) ? file : join(source, file);
}

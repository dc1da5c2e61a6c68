import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const clocksAndWorld = ['process', 'Date', 'performance', 'setTimeout', 'setInterval', 'fetch'];

export default defineConfig(
  { ignores: ['dist/', 'runs/', 'node_modules/', 'src/lab/engine/assembly/', 'scripts/'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['vitest.config.ts'] } } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // `import { type A }` would still load the file when the program runs, and all that it needs.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      'max-lines-per-function': ['error', { max: 40, skipComments: true, skipBlankLines: true }],
      'max-params': ['error', 4],
      complexity: ['error', 10],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.name=/^mkdir(Sync)?$/] Property[key.name="recursive"]',
          message: 'Node may try for ever: take `makeFolder` (files/make-folder.ts), in the lab `makeDirectory`.',
        },
        { selector: 'ExportDefaultDeclaration', message: 'Export by name: the importer should not choose it.' },
        {
          selector:
            'ImportDeclaration[importKind="value"][source.value="zod"] > ImportSpecifier[imported.name="z"]:not([importKind="type"])',
          message: 'Take `* as z`: `z` brings all of its languages into the programs.',
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Use a named, seeded stream (lab/rng.ts).' },
      ],
      'no-restricted-globals': [
        'error',
        { name: 'process', message: 'Only cli/, executors/ and main files read the process; take a value instead.' },
      ],
    },
  },
  {
    files: [
      'src/cli/**',
      'src/executors/**',
      'src/gpu/**',
      'src/processes/**',
      'src/**/main.ts*',
      'src/**/*-main.ts',
      'bench/**',
      'test/**',
    ],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: [
      'src/{base,text,contract,query,spec,scheduler,protocol,analysis}/**',
      'src/tui/{state,widgets,screens,dialogs}/**',
    ],
    // They read files, a little at a time.
    ignores: ['src/tui/**/*-reader.ts', 'src/tui/widgets/log/log-viewer.ts'],
    rules: { 'no-restricted-globals': ['error', ...clocksAndWorld] },
  },
  // A person's own module is its default export.
  { files: ['examples/**'], rules: { 'no-restricted-syntax': 'off' } },
  // The kernels' signatures are the WebAssembly module's: flat lists of sizes and addresses.
  { files: ['src/lab/engine/kernels/**'], rules: { 'max-params': 'off', 'max-lines-per-function': 'off' } },
  {
    files: ['test/**', 'bench/**', '*.config.ts'],
    rules: { 'max-lines-per-function': 'off', 'no-restricted-syntax': 'off', 'no-console': 'off' },
  },
);

/** Changes preferences many times, for the test of several writers: FILE NAME COUNT. */
import { PreferencesFile } from '../../src/files/preferences.js';

const [path, name, count] = process.argv.slice(2);
const file = new PreferencesFile(path!);
const answers = await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    file.change((values) => ({ ...values, [`${name} ${index}`]: true })),
  ),
);
const problem = answers.find((answer) => answer !== null);
if (problem !== undefined) throw new Error(problem ?? '');

/** The program `memrl`, in its process. */
import { main } from './program.js';

void main(process.argv.slice(2), process).then((code) => (process.exitCode = code));

/** The program `memrl-tui`, which has its process to itself: its words, its streams, its exit code. */
import { fileURLToPath } from 'node:url';
import { takeProcess } from './ports.js';
import { runCommandLine, told } from './program.js';
import { onOutputLost } from './terminal.js';

takeProcess({ process, programs: fileURLToPath(new URL('.', import.meta.url)) }, process.argv.slice(2));
onOutputLost((lost) => process.exit(told(lost)));
// The window restores the terminal itself and passes its error on to here.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') === 1) process.exit(told(error));
});
void runCommandLine().then((code) => (process.exitCode = code));

import type { Check } from './check.js';
import { clock } from './clock.js';
import { durability, place, space } from './disk.js';
import { gpus, mps } from './gpus.js';
import { watches } from './inotify.js';
import { memory, openFiles, processes } from './limits.js';
import { preferences } from './preferences.js';
import { git, node, python } from './programs.js';
import { secrets } from './secrets.js';
import { socketFolder } from './socket-folder.js';
import { stateFolder, supervisor } from './supervisor.js';
import { cgroups, logout, hostConfig } from './survival.js';
import { characters, multiplexer, terminal } from './terminal.js';

/** All that `doctor` looks at, in the order in which it is shown. */
export const checks: readonly Check[] = [
  ...[node, python, git, gpus, mps, clock],
  ...[terminal, characters, multiplexer, preferences],
  ...[place, space, durability, socketFolder, supervisor, stateFolder],
  ...[openFiles, processes, watches, memory],
  ...[cgroups, logout, hostConfig, secrets],
];

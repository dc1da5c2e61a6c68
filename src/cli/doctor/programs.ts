import { ask } from './ask.js';
import { bad, type Check, type Finding, ok, warn } from './check.js';

/** As in package.json. */
const OLDEST = [20, 19] as const;

export const node: Check = { topic: 'Machine', name: 'Node', look: () => judgeNode(process.version) };

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return ok(version);
  return bad(`${version} is older than ${OLDEST.join('.')}`, 'Install a newer one, for example with `nvm install 22`.');
}

export const python: Check = {
  topic: 'Machine',
  name: 'Python',
  look: async (place) => {
    const version = (await ask(place, 'python3', '--version')) ?? (await ask(place, 'python', '--version'));
    return ok(version === null ? 'none on the PATH (needed only by runs in Python)' : version.replace(/^Python /, ''));
  },
};

export const git: Check = {
  topic: 'Machine',
  name: 'git',
  look: async (place) => {
    const version = await ask(place, 'git', '--version');
    if (version !== null) return ok(version.replace(/^git version /, ''));
    return warn('none on the PATH: run.json will not say which code ran', 'Install git.');
  },
};

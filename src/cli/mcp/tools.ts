import type { Verb } from '../verb.js';
import { actingTools } from './acting-tools.js';
import { curvesTool } from './curves-tool.js';
import { docsTool } from './docs-tool.js';
import { failuresTool } from './failures-tool.js';
import { lookingTools } from './looking-tools.js';
import { sweepTools } from './sweep-tools.js';
import type { Tool } from './verb-tool.js';

/** Everything that an agent can call, in the order in which it is listed. @param docs Folder of the documentation. */
export function toolsOf(verbs: readonly Verb[], docs: string): readonly Tool[] {
  return [...sweepTools, ...lookingTools(verbs), failuresTool, curvesTool, docsTool(docs), ...actingTools];
}

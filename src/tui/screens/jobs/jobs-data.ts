import { wantedFor } from '../../model/detail.js';
import type { ScreenData } from '../screen.js';
import { listPage } from './layout.js';

/** Lines of a log beside the list. */
export const logLines = 200;

/** The list shows nothing that the other screens do not know. */
export function jobsData(): ScreenData<'jobs', null> {
  return {
    wanted: ({ node, scene }) => wantedFor(node, scene, logLines),
    read: () => null,
    context: ({ body, isSmall }) => ({ page: listPage(body, isSmall) }),
  };
}

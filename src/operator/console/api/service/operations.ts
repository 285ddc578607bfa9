import { showOverview } from './show-overview.ts';
import { showSession } from './show-session.ts';

export const serviceOperations = [showSession, showOverview];

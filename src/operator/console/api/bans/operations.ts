import { liftBan } from './lift-ban.ts';
import { listBans } from './list-bans.ts';

export const banOperations = [listBans, liftBan];

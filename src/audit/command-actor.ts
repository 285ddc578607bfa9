import { userInfo } from 'node:os';
import type { Actor } from './act.ts';

/** Returns the system user of this process as the actor. A user without a name is named by its user id. */
export function commandActor(): Actor {
  return { kind: 'command', name: readUser() };
}

function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

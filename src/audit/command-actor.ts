import { userInfo } from 'node:os';
import type { Actor } from './act.ts';

/** The system user of this process; its number if it has no name. */
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

/** The entry of SQLite's reading thread. */
import { lockWaitMsMax, openReadingConnection, repeatWhileBusy } from './connection.ts';
import { serveTasks } from './thread.ts';

/** Time in ms that this thread may wait for a lock. It holds up nobody else. */
const busyTimeoutMs = 5_000;

serveTasks((path) => repeatWhileBusy(() => openReadingConnection(path, busyTimeoutMs), lockWaitMsMax));

import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Peer, peerFolder } from './peers.ts';

const run = promisify(execFile);
const installMsMax = 600_000;

/**
 * Installs a peer into its own folder, unless the folder is newer than the peer's package.json. Throws if npm does not
 * succeed within ten minutes.
 */
export async function installPeer(peer: Peer): Promise<void> {
  const folder = peerFolder(peer);
  const installed = join(folder, 'node_modules', '.package-lock.json');
  const wanted = join(folder, 'package.json');
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(wanted).mtimeMs) return;
  process.stderr.write(`installing ${peer.name}\n`);
  await run('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    timeout: installMsMax,
  });
}

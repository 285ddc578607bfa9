import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

/** The pages, which `readConsoleFiles` gives to this thread. Node.js warns that this function is experimental. */
const pages = workerData as readonly string[];
parentPort?.postMessage(pages.map((page) => stripTypeScriptTypes(page)));

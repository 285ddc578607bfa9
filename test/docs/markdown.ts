import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toAnchor } from '../../src/http/docs-site/guides.ts';

export const root = join(import.meta.dirname, '../..');

/** A fenced block: what stands behind the fence, what is inside, and the line that the fence is on. */
export interface Block {
  readonly info: string;
  readonly code: string;
  readonly line: number;
}

const foreignFolders = new Set(['.git', 'node_modules', 'data']);

/** The documents of the project below a folder, by their paths from its root, in order. */
export async function listDocuments(folder = ''): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return foreignFolders.has(entry.name) ? [] : await listDocuments(path);
    return path.endsWith('.md') ? [path] : [];
  });
  return (await Promise.all(found)).flat().sort();
}

export function readDocument(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}

export function findBlocks(text: string): Block[] {
  return [...text.matchAll(/^```([^\n`]*)\n(.*?)^```$/gms)].map((match) => ({
    info: match[1]?.trim() ?? '',
    code: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** The text without its fenced blocks, in which neither headings nor links count. */
function stripBlocks(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '');
}

/** What links may lead to: each heading as GitHub names it. */
export function findAnchors(text: string): Set<string> {
  const headings = [...stripBlocks(text).matchAll(/^#{1,6} +(.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(headings.map(toAnchor));
}

export function findLinks(text: string): string[] {
  const withoutCode = stripBlocks(text).replaceAll(/`[^`\n]*`/g, '');
  return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The rows of the first table below a heading, their cells as they stand in the source; the head is left out. */
export function readTable(text: string, heading: string): string[][] {
  const section = text.split(/^#{1,6} +/m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`there is no heading "${heading}"`);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map(readCell),
  );
}

function readCell(cell: string): string {
  return cell.trim().replaceAll('\\|', '|');
}

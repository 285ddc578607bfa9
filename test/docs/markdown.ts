import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toAnchor } from '../../src/http/docs-site/markdown.ts';

export const root = join(import.meta.dirname, '../..');

/** A fenced code block: its info string, its code and the line of the opening fence. */
export interface Block {
  readonly info: string;
  readonly code: string;
  readonly line: number;
}

const foreignFolders = new Set(['.git', 'node_modules', 'data']);

/** Lists the documents below a folder, as sorted paths relative to the root of the project. */
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

/** Removes the fenced blocks, because headings and links in them do not count. */
function stripBlocks(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '');
}

/** Returns the anchors of all headings, as GitHub generates them. */
export function findAnchors(text: string): Set<string> {
  const headings = [...stripBlocks(text).matchAll(/^#{1,6} +(.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(headings.map(toAnchor));
}

/** Returns the targets of all links and pictures. */
export function findLinks(text: string): string[] {
  const withoutCode = stripBlocks(text).replaceAll(/`[^`\n]*`/g, '');
  return [...withoutCode.matchAll(/(?:\]\(|src(?:set)?=")([^)"\s]+)[)"]/g)].map((match) => match[1] ?? '');
}

/** Returns the rows of the first table below a heading, without its head. Cells are Markdown. */
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

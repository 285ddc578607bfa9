/** An animal as `import` reads it. */
interface Animal {
  readonly name: string;
  readonly categoryId: number;
  readonly status: 'available' | 'pending' | 'sold';
}

const names = ['Juno', 'Pixel', 'Rollo', 'Miso', 'Nala', 'Otto', 'Luna', 'Bruno', 'Zoë', 'Sir Barksalot'];
const statuses = ['available', 'available', 'pending', 'sold'] as const;

/** Generates the same animals in every run: 50 categories, names of 6 to 21 characters, half of them available. */
export function* makeAnimals(count: number): Generator<Animal> {
  for (let id = 1; id <= count; id += 1) yield makeAnimal(id);
}

/** Returns the animal that has this id in a new store. */
export function makeAnimal(id: number): Animal {
  return { name: `${names[id % names.length]} ${id}`, categoryId: 1 + (id % 50), status: statusOf(id) };
}

/** True if the animal with this id is available in a new store. */
export function isAvailable(id: number): boolean {
  return statusOf(id) === 'available';
}

function statusOf(index: number): Animal['status'] {
  return statuses[index % statuses.length] ?? 'available';
}

const linesPerChunk = 2_000;

/** Generates the animals as NDJSON, in chunks of 2,000 lines. */
export function* makeAnimalLines(count: number): Generator<string> {
  let lines: string[] = [];
  for (const animal of makeAnimals(count)) {
    lines.push(JSON.stringify(animal));
    if (lines.length < linesPerChunk) continue;
    yield `${lines.join('\n')}\n`;
    lines = [];
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}

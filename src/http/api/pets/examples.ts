export const rex = { id: 42, name: 'Rex', categoryId: 1, status: 'available' };
export const elodie = { id: 41, name: 'Élodie', categoryId: 2, status: 'sold' };

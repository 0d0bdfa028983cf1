export const first = (id: string): Promise<string> => Promise.resolve(id);
export const second = (id: string): Promise<string> => Promise.resolve(id);

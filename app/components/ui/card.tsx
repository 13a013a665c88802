import type { ReactNode } from "react";

export function Card(props: { title: string; id?: string; aside?: ReactNode; children: ReactNode }) {
  const { title, id, aside, children } = props;
  return (
    <section id={id} className="border border-line bg-raised rounded-label">
      <header className="flex items-baseline justify-between gap-4 border-b border-line px-4 py-3">
        <h2 className="text-base font-semibold">{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

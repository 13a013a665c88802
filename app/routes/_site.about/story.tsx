import type { about } from "~/models/content.server";
import { Carousel } from "./carousel";

export function Story({ title, paragraphs, scenes }: (typeof about)["story"]) {
  return (
    <section aria-labelledby="story" className="mt-10">
      <h2 id="story" className="text-xl">
        {title}
      </h2>
      <div className="mt-4 grid gap-x-12 gap-y-8 lg:scripted:grid-cols-[1fr_minmax(0,36rem)]">
        <div className="grid content-start gap-x-10 gap-y-4 lg:not-scripted:grid-cols-3">
          {paragraphs.map((paragraph) => (
            <p key={paragraph} className="max-w-xl">
              {paragraph}
            </p>
          ))}
        </div>
        <Carousel scenes={scenes} />
      </div>
    </section>
  );
}

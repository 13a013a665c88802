import { Fragment } from "react";
import { reviewIds } from "./review-keys";

const zoomLabels = { 1: "Whole picture", 2: "Zoom 200%", 4: "Zoom 400%" };
const turnLabels = { 0: "Upright", 90: "Rotate right", 180: "Upside down", 270: "Rotate left" };

type FileViewerProps = { kind: "pdf" | "picture"; src: string; name: string; download: string };

/** Without JavaScript, the browser shows the content of `object` or the text of `alt` if it cannot load the file. */
export function FileViewer({ kind, src, name, download }: FileViewerProps) {
  const frame = "viewer rounded-label border border-line bg-sunken";
  if (kind === "pdf")
    return (
      <div className={frame}>
        <object key={src} data={src} type="application/pdf" aria-label={`File: ${name}`}>
          <p className="p-4">
            We cannot show this file here. The file is damaged or contains a script, or your browser cannot show PDF
            files.{" "}
            <a href={download} className="underline">
              Download the file
            </a>
          </p>
        </object>
      </div>
    );
  return (
    <div id={reviewIds.controls} className="flex flex-wrap items-center gap-x-2">
      <ViewChoices name="zoom" labels={zoomLabels} />
      <ViewChoices name="turn" labels={turnLabels} />
      <div className={`${frame} w-full`}>
        <img key={src} src={src} alt={`${name}. If you see only this text, this page cannot show the picture.`} />
      </div>
    </div>
  );
}

/** The styles in viewer.css need radio buttons that are siblings of the picture. They work without JavaScript. */
function ViewChoices({ name, labels }: { name: string; labels: Record<number, string> }) {
  return Object.entries(labels).map(([value, label], index) => {
    const id = `${name}-${value}`;
    return (
      <Fragment key={id}>
        <input type="radio" name={name} id={id} defaultChecked={index === 0} className={`${id} size-5 shrink-0`} />
        <label htmlFor={id} className="mr-3 inline-flex min-h-11 items-center text-sm">
          {label}
        </label>
      </Fragment>
    );
  });
}

/* What the timeline of the page does. It goes into the page by embed.awk: a line that begins with
 * blanks continues the one before, and comments are left out.
 *
 *     data      lines of text -> blocks -> columns of all events, by track (lib/page/page.h)
 *     rows      events of a track in rows without overlap; for each row the sum of the durations
 *               before an event, and a tree of the longest ones: what a pixel shows costs the
 *               same however many events are in it
 *     drawing   a row is a line of pixels, which is made once and copied to its height
 *     input     keys, wheel, pointer
 *     cards     an event, the sums of a span */
(function(){'use strict';
var el=function(id){return document.getElementById('tl-'+id)},canvas=el('canvas'),
  ctx=canvas.getContext('2d',{alpha:false});
/* ---- data ---- */
var digits=new Uint8Array(128);
for(var i=0;i<85;i++)digits[40+i]=i;
digits[126]=20;
/* The last characters may be less than five: what is missing counts as the largest digit. */
function bytesOf(line){
  var n=line.length,whole=n-n%5,out=new Uint8Array(whole/5*4+4),at=0,w;
  if(n>whole)line+='|||||';
  for(var i=0;i<n;i+=5){
    w=(((digits[line.charCodeAt(i)]*85+digits[line.charCodeAt(i+1)])*85+
      digits[line.charCodeAt(i+2)])*85+digits[line.charCodeAt(i+3)])*85+
      digits[line.charCodeAt(i+4)]>>>0;
    out[at]=w>>>24;out[at+1]=w>>>16;out[at+2]=w>>>8;out[at+3]=w;
    at+=4
  }
  return out.subarray(0,whole/5*4+(n>whole?n-whole-1:0))
  }
function inflate(line){
  return new Response(new Blob([bytesOf(line)]).stream().pipeThrough(
    new DecompressionStream('deflate'))).arrayBuffer().then(function(b){return new Uint8Array(b)})
  }
/* A reader of varints of up to 64 bits: next() is the number, lo and hi are its halves. */
function Reader(bytes){this.b=bytes;this.at=0;this.lo=this.hi=0}
Reader.prototype.next=function(){
  var b=this.b,c=b[this.at++];
  if(c<128){this.hi=0;return this.lo=c}
  var lo=c&127,hi=0,shift=7;
  do{
    c=b[this.at++];
    if(shift<28)lo|=(c&127)<<shift;
    else if(shift===28){lo|=(c&15)<<28;hi=(c&127)>>4}
    else hi|=(c&127)<<shift-32;
    shift+=7
  }while(c>127);
  this.lo=lo>>>0;this.hi=hi>>>0;
  return this.hi*4294967296+this.lo
  };
Reader.prototype.signed=function(){
  var v=this.next();
  return v%2?-(v+1)/2:v/2
  };
/* Columns of all events; those of a track follow each other. */
var E,info,tracks=[],groups=[],captures=[],texts=[],blocks=[];
function Events(n){
  this.start=new Float64Array(n);this.end=new Float64Array(n);
  this.name=new Uint32Array(n);this.flags=new Uint8Array(n);
  this.rowLo=new Uint32Array(n);this.rowHi=new Uint32Array(n);
  this.stackLo=new Uint32Array(n);this.stackHi=new Uint32Array(n);
  this.size=new Float64Array(n);this.detail=new Uint32Array(n)
  }
/* Differences of 64 bits, zigzagged, modulo 2^64. */
function readWide(r,n,lo,hi,at){
  var a=0,b=0,l,h,sum;
  for(var i=0;i<n;i++){
    r.next();
    l=(r.lo>>>1|r.hi<<31)>>>0;h=r.hi>>>1;
    if(r.lo&1){l=~l>>>0;h=~h>>>0}
    sum=a+l;a=sum>>>0;b=b+h+(sum>4294967295?1:0)>>>0;
    lo[at+i]=a;hi[at+i]=b
  }
  }
function readSlices(r,n,at){
  var t=0,i;
  for(i=0;i<n;i++)E.start[at+i]=t+=r.next();
  for(i=0;i<n;i++)E.end[at+i]=E.start[at+i]+r.next();
  for(i=0;i<n;i++)E.name[at+i]=r.next();
  for(i=0;i<n;i++)E.flags[at+i]=r.next();
  readWide(r,n,E.rowLo,E.rowHi,at);
  readWide(r,n,E.stackLo,E.stackHi,at);
  for(i=0;i<n;i++)E.size[at+i]=r.next();
  for(i=0;i<n;i++)E.detail[at+i]=r.next();
  blocks.push({first:at,details:r.b.slice(r.at)})
  }
function readValues(r,n,t){
  var at=t.valueCount,time=0,i,v=0;
  for(i=0;i<n;i++)t.times[at+i]=time+=r.next();
  if(r.b[r.at++]){
    var d=new DataView(r.b.buffer,r.b.byteOffset+r.at);
    for(i=0;i<n;i++)t.values[at+i]=d.getFloat64(8*i,true)
  }else for(i=0;i<n;i++)t.values[at+i]=v+=r.signed();
  t.valueCount+=n
  }
function readCells(r,n,t){
  var at=0,i;
  t.cells=new Uint32Array(n);t.cellEvents=new Float64Array(n+1);t.cellBusy=new Float64Array(n);
  for(i=0;i<n;i++)t.cells[i]=at+=r.next();
  for(i=0;i<n;i++)t.cellEvents[i+1]=t.cellEvents[i]+r.next();
  for(i=0;i<n;i++)t.cellBusy[i]=Math.min(1,r.next()/info.busy)
  }
var WORK=6,THREAD=6;
function readAll(all){
  info=JSON.parse(new TextDecoder().decode(all.pop()));
  texts=info.texts;captures=info.captures;
  groups=info.groups.map(function(g,i){
    return{parent:g[0]<0?null:g[0],label:texts[g[1]],order:g[2],number:i,open:true,groups:[],tracks:[]}
  });
  tracks=info.tracks.map(function(t,i){
    return{kind:t[0],group:groups[t[1]],label:texts[t[2]],capture:t[3],order:t[4],unit:texts[t[5]],
      number:i,first:0,count:0,valueCount:0,rows:[]}
  });
  var events=0,head=all.map(function(b){
    var r=new Reader(b),h={r:r,kind:r.next(),track:tracks[r.next()],n:r.next()};
    if(h.kind===0)h.track.count+=h.n;
    if(h.kind===1)h.track.valueCount+=h.n;
    return h
  });
  tracks.forEach(function(t){
    t.first=events;events+=t.count;
    t.filled=0;
    t.times=new Float64Array(t.valueCount);t.values=new Float64Array(t.valueCount);
    t.valueCount=0;
    t.group.tracks.push(t)
  });
  E=new Events(events);E.count=events;
  head.forEach(function(h){
    if(h.kind===0){readSlices(h.r,h.n,h.track.first+h.track.filled);h.track.filled+=h.n}
    else if(h.kind===1)readValues(h.r,h.n,h.track);
    else readCells(h.r,h.n,h.track)
  });
  blocks.sort(function(a,b){return a.first-b.first});
  groups.forEach(function(g){if(g.parent!==null)groups[g.parent].groups.push(g)});
  var byOrder=function(a,b){return a.order-b.order||a.number-b.number};
  groups.forEach(function(g){g.groups.sort(byOrder);g.tracks.sort(byOrder)})
  }
/* ---- rows ---- */
var FAN=16,ROWS_MAX=256;
/* A tree of the largest ones of keys: level 0 has the index of the largest of each FAN. */
function treeOf(n,larger){
  var levels=[],count=n,below=null;
  while(count>FAN){
    var up=new Uint32Array(Math.ceil(count/FAN));
    for(var i=0;i<up.length;i++){
      var best=below?below[i*FAN]:i*FAN;
      for(var k=i*FAN+1;k<Math.min(count,(i+1)*FAN);k++){
        var c=below?below[k]:k;
        if(larger(c,best))best=c
      }
      up[i]=best
    }
    levels.push(up);below=up;count=up.length
  }
  return levels
  }
function largestIn(levels,larger,i,j){
  var best=i,level=-1,c,a=i,b=j;
  var take=function(k){c=level<0?k:levels[level][k];if(larger(c,best))best=c};
  while(a<b){
    if(level+1>=levels.length||b-a<2*FAN){
      while(a<b)take(a++);
      break
    }
    while(a%FAN)take(a++);
    while(b%FAN)take(--b);
    a/=FAN;b/=FAN;level++
  }
  return best
  }
function Row(track,list,marks){
  this.track=track;this.marks=marks;this.n=list.length;this.index=list;
  var n=this.n,start=this.start=new Float64Array(n),end=this.end=new Float64Array(n),
    before=this.before=new Float64Array(n+1);
  for(var i=0;i<n;i++){
    start[i]=E.start[list[i]];end[i]=E.end[list[i]];
    before[i+1]=before[i]+end[i]-start[i]
  }
  this.larger=function(a,b){return end[a]-start[a]>end[b]-start[b]};
  this.levels=treeOf(n,this.larger)
  }
/* The first slice that begins at the time or later, from the i-th on. */
Row.prototype.from=function(time,i){
  var s=this.start,n=this.n,step=1,lo=i||0,hi;
  if(lo>=n||s[lo]>=time)return lo;
  hi=lo+1;
  while(hi<n&&s[hi]<time){lo=hi;step*=2;hi=lo+step}
  if(hi>n)hi=n;
  while(hi-lo>1){
    var mid=lo+hi>>>1;
    if(s[mid]<time)lo=mid;
    else hi=mid
  }
  return hi
  };
/* The first that reaches beyond the time. */
Row.prototype.reaching=function(time){
  var i=this.from(time,0);
  return i&&this.end[i-1]>time?i-1:i
  };
/* Every slice goes to the first row that is free: those that nest stand below each other. */
function addRows(t,list,marks){
  var ends=[],counts=[],n=list.length,row=new Uint16Array(n),i,r;
  for(i=0;i<n;i++){
    var e=list[i],start=E.start[e];
    for(r=0;r<ends.length&&ends[r]>start&&r<ROWS_MAX-1;)r++;
    if(r===ends.length){ends.push(0);counts.push(0)}
    ends[r]=Math.max(ends[r],E.end[e]);counts[r]++;row[i]=r
  }
  var lists=counts.map(function(c){return new Uint32Array(c)}),fill=counts.map(function(){return 0});
  for(i=0;i<n;i++){r=row[i];lists[r][fill[r]++]=list[i]}
  lists.forEach(function(l){t.rows.push(new Row(t,l,marks))})
  }
function makeRows(){
  var marker=info.kinds.indexOf('marker'),instant=info.kinds.indexOf('instant');
  tracks.forEach(function(t){
    var marks=[],rest=new Uint32Array(t.count),n=0;
    for(var e=t.first;e<t.first+t.count;e++){
      var k=E.flags[e]&15;
      if(t.kind===THREAD&&(k===marker||k===instant))marks.push(e);
      else rest[n++]=e
    }
    if(marks.length)addRows(t,Uint32Array.from(marks),true);
    if(n)addRows(t,rest.subarray(0,n),false);
    if(!t.rows.length&&t.cells)t.rows.push(new Row(t,new Uint32Array(0),false));
    if(t.valueCount){
      var v=t.values,top=0,low=0;
      for(var i=0;i<v.length;i++){if(v[i]>top)top=v[i];if(v[i]<low)low=v[i]}
      t.top=top;t.low=low;
      t.larger=function(a,b){return v[a]>v[b]};
      t.levels=treeOf(v.length,t.larger)
    }
  })
  }
/* ---- colours, the same on every page: of GPU work by the class of its kernels, else by name ---- */
var dark=false,pixel={},css={},paint,found=null,work=null;
var HUES=[[0,114,178],[213,94,0],[0,158,115],[204,121,167],[86,180,233],[230,159,0],[120,94,170],
  [160,120,60],[34,136,150],[110,130,200],[190,90,90],[120,150,50]];
function hashOf(s){
  var h=2166136261,n=Math.min(s.length,400);
  for(var i=0;i<n;i++)h=Math.imul(h^s.charCodeAt(i),16777619);
  h^=h>>>15;h=Math.imul(h,0x2c1b3c6d);return(h^h>>>12)>>>0
  }
function mix(a,b,f){return a.map(function(v,i){return Math.round(v*(1-f)+b[i]*f)})}
function packed(c){return(255<<24|c[2]<<16|c[1]<<8|c[0])>>>0}
function rgbOf(c){return'rgb('+c.join(',')+')'}
function colourValue(name){
  var v=getComputedStyle(document.documentElement).getPropertyValue(name).trim(),m;
  if((m=/^#(.)(.)(.)$/.exec(v)))return[1,2,3].map(function(i){return parseInt(m[i]+m[i],16)});
  m=/^#(..)(..)(..)/.exec(v);
  return m?[1,2,3].map(function(i){return parseInt(m[i],16)}):[128,128,128]
  }
function findWork(){
  var seen=info.classes.names.map(function(){return false}),legend=el('classes');
  work=new Uint8Array(texts.length);
  tracks.forEach(function(t){
    if(t.kind<WORK)for(var e=t.first;e<t.first+t.count;e++)work[E.name[e]]=1
  });
  for(var i=0;i<texts.length;i++)if(work[i])seen[parseInt(info.classes.of[i],16)]=true;
  info.classes.names.forEach(function(name,k){
    if(!seen[k])return;
    var s=make('span',name),mark=make('i');
    mark.dataset.k=k;s.prepend(mark);legend.append(s)
  })
  }
function setColours(){
  ['bg','fg','dim','line','soft','accent'].forEach(function(k){
    var c=colourValue('--'+k);css[k]=rgbOf(c);pixel[k]=c
  });
  dark=pixel.bg[0]<100;
  var towards=dark?pixel.bg:[255,255,255],f=dark?.28:.38,grey=mix(pixel.dim,pixel.bg,.45);
  paint=new Uint32Array(texts.length);
  var classes=info.classes.names.map(function(_,k){return colourValue('--k'+k)});
  for(var i=0;i<texts.length;i++){
    var h=hashOf(texts[i]),shade=f+(h>>>8&3)*.045,
      c=work[i]?mix(classes[parseInt(info.classes.of[i],16)],towards,shade):mix(HUES[h%HUES.length],towards,shade);
    paint[i]=packed(found&&!found[i]?mix(c,pixel.bg,.8):c)
  }
  el('classes').querySelectorAll('i').forEach(function(m){
    m.style.background=rgbOf(mix(classes[m.dataset.k],towards,f))
  });
  pixel.cell=grey;pixel.value=mix(HUES[0],pixel.bg,dark?.25:.35);
  pixel.page=packed(pixel.bg);pixel.band=packed(pixel.soft)
  }
/* ---- what is on the canvas: groups and rows, one below the other ---- */
var ROW=18,VALUE=34,HEAD=22,GAP=5,TOP=58,items=[],itemsHeight=0,cursor=0;
function layOut(){
  var y=0;
  items=[];
  function add(g,depth){
    items.push({group:g,depth:depth,y:y,h:HEAD,label:g.label});
    y+=HEAD;
    if(!g.open)return;
    var rest=g.tracks.filter(function(t){return t.kind>=THREAD}),
      work=g.tracks.filter(function(t){return t.kind<THREAD});
    work.forEach(function(t){addTrack(t,depth+1)});
    g.groups.forEach(function(c){add(c,depth+1)});
    rest.forEach(function(t){addTrack(t,depth+1)})
  }
  function addTrack(t,depth){
    t.rows.forEach(function(r,k){
      var first=k===0||t.rows[k-1].marks!==r.marks;
      items.push({row:r,track:t,depth:depth,y:y,h:ROW,
        label:!first?'':r.marks?'Markers of '+t.label:t.label});
      y+=ROW
    });
    if(t.valueCount){items.push({track:t,values:true,depth:depth,y:y,h:VALUE,label:t.label});y+=VALUE}
    y+=GAP
  }
  groups.forEach(function(g){if(g.parent===null)add(g,0)});
  itemsHeight=y;
  cursor=Math.min(cursor,items.length-1)
  }
/* ---- the view ---- */
var view={from:0,to:1,y:0},W=0,H=0,G=200,scale=1,image=null,pixels=null,line=null,cover=null,
  selected=-1,partners=[],span=null,hover=null,dirty=false,drawn=0,spent=0;
function plotWidth(){return W-G}
function nsPerPixel(){return(view.to-view.from)/plotWidth()}
function xOf(time){return G+(time-view.from)/nsPerPixel()}
function timeOf(x){return view.from+(x-G)*nsPerPixel()}
function scrollMost(){return Math.max(0,itemsHeight-(H-TOP))}
function setView(from,to){
  var least=plotWidth()/20,most=info.span*1.1+1000,len=Math.min(Math.max(to-from,least),most),
    mid=(from+to)/2,slack=len*.5;
  from=mid-len/2;
  from=Math.max(-slack,Math.min(from,info.span-len+slack));
  view.from=from;view.to=from+len;
  from=Math.max(0,from);
  el('range').textContent=timeText(Math.max(0,Math.min(info.span,view.to)-from))+' from '+timeText(from);
  redraw()
  }
function zoomAt(time,factor){
  setView(time-(time-view.from)*factor,time+(view.to-time)*factor)
  }
function showAll(){setView(-info.span*.005-10,info.span*1.005+10)}
function scrollBy(dy){view.y=Math.max(0,Math.min(scrollMost(),view.y+dy));redraw()}
function redraw(){
  if(dirty)return;
  dirty=true;
  requestAnimationFrame(function(){
    dirty=false;
    if(!canvas.clientWidth)return;
    var t=performance.now();
    draw();
    spent+=performance.now()-t;drawn++;
    canvas.dataset.frames=drawn;canvas.dataset.spent=spent.toFixed(1)
  })
  }
function resize(){
  var w=canvas.clientWidth;
  if(!w||!info)return;
  var room=innerHeight-canvas.getBoundingClientRect().top-scrollY-215,
    h=Math.round(Math.max(260,Math.min(Math.max(room,.45*innerHeight),itemsHeight+TOP+6)));
  scale=devicePixelRatio||1;
  W=w;H=h;
  canvas.style.height=h+'px';
  canvas.width=Math.round(w*scale);canvas.height=Math.round(h*scale);
  G=Math.round(Math.max(92,Math.min(250,w*.2)));
  image=ctx.createImageData(canvas.width,canvas.height);
  pixels=new Uint32Array(image.data.buffer);
  line=new Uint32Array(canvas.width);cover=new Float32Array(canvas.width);
  strip=null;
  view.y=Math.min(view.y,scrollMost());
  redraw()
  }
/* ---- drawing ---- */
/* The pixel of a colour that is there for a part of it. */
function faded(c,f){
  var a=pixel.page,g=1-f,r=(c&255)*f+(a&255)*g,b=(c>>>8&255)*f+(a>>>8&255)*g,
    d=(c>>>16&255)*f+(a>>>16&255)*g;
  return(255<<24|d<<16|b<<8|r)>>>0
  }
function shade(c){return faded(c,dark?.55:.7)}
/* Cells of what has no details, between two pixels. */
function lineOfCells(t,x0,px){
  var c=t.cells,w=info.cell,lo,n=c.length,grey=packed(pixel.cell),wf=info.window?info.window[0]:0,
    wt=info.window?info.window[1]:0;
  for(var x=x0;x<line.length;x++){
    var a=px.from+(x-x0)*px.ns,b=a+px.ns;
    if(a>=wf&&b<=wt)continue;
    lo=lowerBound(c,Math.floor(a/w));
    var best=0;
    for(var k=lo,most=Math.ceil(b/w);k<n&&c[k]<most;){
      if(t.cellBusy[k]>best)best=t.cellBusy[k];
      k++
    }
    if(best>0)line[x]=faded(grey,Math.max(.25,best))
  }
  }
function lowerBound(a,v){
  var lo=0,hi=a.length;
  while(lo<hi){
    var mid=lo+hi>>>1;
    if(a[mid]<v)lo=mid+1;
    else hi=mid
  }
  return lo
  }
/* A row as a line of pixels, and the slices that are wide enough for a name. px: the pixel columns,
 * which are on a grid of time so that what is denser does not flicker when it moves. */
function lineOfRow(r,x0,px,labels){
  var start=r.start,end=r.end,n=r.n,ns=px.ns,from=px.from,right=line.length,till=from+(right-x0)*ns,
    i=r.reaching(from),wide=26*scale;
  while(i<n&&start[i]<till){
    var a=Math.max(x0,x0+Math.floor((start[i]-from)/ns)),b=x0+Math.floor((end[i]-from)/ns),
      c=paint[E.name[r.index[i]]];
    if(b-a>=2){
      var stop=Math.min(b,right);
      line.fill(c,a,stop);
      if(b-a>3&&start[i]>=from)line[a]=shade(c);
      if(labels&&stop-a>=wide)labels.push(r.index[i],a,stop);
      i++;
      continue
    }
    var edge=from+(a-x0+1)*ns,j=Math.max(i+1,r.from(edge,i)),tail=(end[j-1]-edge)/ns,
      busy=r.before[j]-r.before[i]-Math.max(0,tail*ns),
      best=j-i===1?i:largestIn(r.levels,r.larger,i,j);
    if(a<right)line[a]=faded(paint[E.name[r.index[best]]],Math.min(1,Math.max(.4,busy/ns)));
    if(tail>1&&j-1>i){i=j-1;continue}
    if(tail>0&&a+1<right)
      line[a+1]=faded(paint[E.name[r.index[j-1]]],Math.min(1,Math.max(.4,tail)));
    i=j
  }
  }
function paintLine(x0,y,h){
  var w=canvas.width,y0=Math.max(Math.round(TOP*scale),Math.round(y*scale)),
    y1=Math.min(canvas.height,Math.round((y+h)*scale));
  if(y1<=y0)return;
  var at=y0*w;
  pixels.set(x0?line.subarray(x0):line,at+x0);
  for(var k=y0+1;k<y1;k++)pixels.copyWithin(k*w+x0,at+x0,at+w)
  }
function valueAt(t,time){
  var i=lowerBound(t.times,time+1e-9);
  return i?t.values[i-1]:null
  }
function paintValues(t,x0,px,y,h){
  var w=canvas.width,times=t.times,v=t.values,n=times.length,colour=packed(pixel.value),
    range=(t.top-t.low)||1,bottom=Math.round((y+h-2)*scale),full=(h-5)*scale,
    i=Math.max(0,lowerBound(times,px.from)-1),least=Math.round(TOP*scale),
    base=bottom-Math.round(-t.low/range*full);
  for(var x=x0;x<w;x++){
    var b=px.from+(x-x0+1)*px.ns;
    if(times[0]>=b)continue;
    var j=i;
    while(j<n&&times[j]<b&&j-i<8)j++;
    if(j<n&&times[j]<b)j=lowerBound(times,b);
    var m=j>i?v[j-i<2?i:largestIn(t.levels,t.larger,i,j)]:v[i],
      top=bottom-Math.round((m-t.low)/range*full);
    if(m>0&&top===base)top--;
    var from=Math.max(least,Math.min(top,base)),to=Math.max(top,base);
    for(var k=from;k<to;k++)pixels[k*w+x]=colour;
    if(j>i)i=j-1
  }
  }
/* The strip above: how busy all is, all of the time. */
var strip=null;
function makeStrip(){
  var keep=line,n=line.length,x0=Math.round(G*scale),px={from:0,ns:info.span/(n-x0)||1},
    rows=[];
  strip=new Float32Array(n);
  tracks.forEach(function(t){if(t.kind<WORK&&t.rows.length)rows.push(t.rows[0])});
  if(!rows.length)tracks.forEach(function(t){if(t.rows.length)rows.push(t.rows[0])});
  rows.slice(0,400).forEach(function(r){
    var i=0,x,t=r.track;
    for(x=x0;x<n&&!t.cells;x++){
      var b=px.from+(x-x0+1)*px.ns,a=b-px.ns,j=r.from(b,i),
        k=i&&r.end[i-1]>a?i-1:i,busy=r.before[j]-r.before[k];
      if(k<j&&r.start[k]<a)busy-=a-r.start[k];
      if(j>k&&r.end[j-1]>b)busy-=r.end[j-1]-b;
      strip[x]=Math.max(strip[x],Math.min(1,busy/px.ns));
      i=j
    }
    if(t.cells)for(k=0;k<t.cells.length;k++){
      a=x0+Math.floor(t.cells[k]*info.cell/px.ns);b=x0+Math.floor((t.cells[k]+1)*info.cell/px.ns);
      for(x=a;x<=b&&x<n;x++)strip[x]=Math.max(strip[x],t.cellBusy[k])
    }
  });
  line=keep
  }
/* A text without what would turn or hide it; names on slices without their return type. */
function cleanText(s,n){
  s=String(s);
  return(s.length>n?s.slice(0,n)+'\u2026':s)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,'\ufffd')
  }
var shown=[];
function shownName(i){
  if(shown[i]===undefined)shown[i]=cleanText(texts[i]||'(no name)',400).replace(/^void /,'');
  return shown[i]
  }
var widths=new Map();
function widthOf(text){
  var w=widths.get(text);
  if(w===undefined)widths.set(text,w=ctx.measureText(text).width);
  return w
  }
/* As much of the text as there is room for, with its dots; no half of a character. */
function fitted(text,width){
  var w=widthOf(text),room=width-widthOf('\u2026');
  if(w<=width)return text;
  var n=Math.floor(text.length*room/w);
  while(n>1&&widthOf(text.slice(0,n))>room)n--;
  if(n>0&&/[\ud800-\udbff]/.test(text[n-1]))n--;
  return n<2?'':text.slice(0,n)+'\u2026'
  }
function draw(){
  var w=canvas.width,x0=Math.round(G*scale),ns=nsPerPixel()/scale,grid=Math.floor(view.from/ns)*ns,
    px={from:grid,ns:ns},labels=[],notes=[],k,it,y;
  if(!strip)makeStrip();
  pixels.fill(pixel.page);
  for(k=0;k<items.length;k++){
    it=items[k];y=TOP+it.y-view.y;
    if(y+it.h<TOP||y>H)continue;
    if(it.group){
      line.fill(pixel.band);
      if(!it.group.open)drawFolded(it.group,x0,px);
      paintLine(0,y+1,it.h-2);
      continue
    }
    if(it.values){paintValues(it.track,x0,px,y,it.h);continue}
    line.fill(pixel.page);
    if(it.track.cells&&it.row===it.track.rows[0])lineOfCells(it.track,x0,px);
    var of=[];
    lineOfRow(it.row,x0,px,of);
    if(of.length)labels.push([of,y]);
    paintLine(x0,y+1,it.h-2)
  }
  ctx.putImageData(image,0,0);
  ctx.setTransform(scale,0,0,scale,0,0);
  ctx.textBaseline='middle';
  ctx.font='11px system-ui,sans-serif';
  ctx.save();
  ctx.beginPath();ctx.rect(G,TOP,W-G,H-TOP);ctx.clip();
  ctx.fillStyle=dark?'#f4f6f8':'#10151b';
  labels.forEach(function(l){
    for(var k=0;k<l[0].length;k+=3){
      var from=l[0][k+1]/scale,text=fitted(shownName(E.name[l[0][k]]),(l[0][k+2]-l[0][k+1])/scale-7);
      if(text)ctx.fillText(text,from+4,l[1]+ROW/2+.5)
    }
  });
  drawOver();
  ctx.restore();
  drawGutter();
  drawHead(x0)
  }
/* A folded group: where any of its rows has something. */
function drawFolded(g,x0,px){
  var rows=[];
  (function collect(g){
    g.tracks.forEach(function(t){if(t.rows.length&&rows.length<64)rows.push(t.rows[0])});
    g.groups.forEach(collect)
  })(g);
  rows.forEach(function(r){
    if(r.track.cells)lineOfCells(r.track,x0,px);
    lineOfRow(r,x0,px,null)
  })
  }
function rowItemOf(e){
  for(var k=0;k<items.length;k++){
    var r=items[k].row;
    if(r&&e>=r.track.first&&e<r.track.first+r.track.count){
      var i=r.from(E.start[e],0);
      while(i<r.n&&r.start[i]===E.start[e]&&r.index[i]!==e)i++;
      if(i<r.n&&r.index[i]===e)return items[k]
    }
  }
  return null
  }
function outline(e,colour,width){
  var it=rowItemOf(e);
  if(!it)return null;
  var a=xOf(E.start[e]),b=Math.max(a+2,xOf(E.end[e])),y=TOP+it.y-view.y;
  ctx.strokeStyle=colour;ctx.lineWidth=width;
  ctx.strokeRect(Math.max(a,-9),y+1.5,Math.min(b,W+9)-Math.max(a,-9),ROW-3);
  return{from:a,to:b,y:y+ROW/2}
  }
function drawOver(){
  if(info.window){
    ctx.fillStyle=dark?'rgba(255,255,255,.035)':'rgba(0,0,0,.03)';
    ctx.fillRect(G,TOP,xOf(info.window[0])-G,H);ctx.fillRect(xOf(info.window[1]),TOP,W,H)
  }
  if(span){
    var a=xOf(span[0]),b=xOf(span[1]);
    ctx.fillStyle=dark?'rgba(108,176,255,.14)':'rgba(11,92,184,.1)';ctx.fillRect(a,TOP,b-a,H);
    ctx.fillStyle=css.accent;ctx.fillRect(a,TOP,1,H);ctx.fillRect(b,TOP,1,H)
  }
  if(hover&&hover.event>=0&&hover.event!==selected)outline(hover.event,css.fg,1);
  if(selected<0)return;
  var from=outline(selected,css.fg,2);
  partners.slice(0,200).forEach(function(p){
    var to=outline(p,css.accent,1.5);
    if(!from||!to)return;
    var call=(E.flags[selected]>>4&3)===1,x=call?from:to,y=call?to:from,
      x1=Math.max(x.from,-2000),x2=Math.min(y.from,W+2000),bend=Math.max(18,Math.abs(x2-x1)*.3);
    ctx.strokeStyle=ctx.fillStyle=css.accent;ctx.lineWidth=1.5;
    ctx.beginPath();ctx.moveTo(x1,x.y);
    ctx.bezierCurveTo(x1+bend,x.y,x2-bend,y.y,x2-3,y.y);ctx.stroke();
    ctx.beginPath();ctx.moveTo(x2,y.y);ctx.lineTo(x2-7,y.y-4);ctx.lineTo(x2-7,y.y+4);ctx.fill()
  })
  }
function drawGutter(){
  ctx.save();
  ctx.beginPath();ctx.rect(0,TOP,W,H-TOP);ctx.clip();
  items.forEach(function(it,k){
    var y=TOP+it.y-view.y,x=6+Math.min(it.depth,4)*(W<600?5:10);
    if(y+it.h<TOP||y>H)return;
    if(k===cursor&&document.activeElement===canvas){
      ctx.fillStyle=css.accent;ctx.fillRect(0,y+1,3,it.h-2)
    }
    ctx.font=it.group?'600 12px system-ui,sans-serif':'12px system-ui,sans-serif';
    if(it.group){
      var m=y+HEAD/2;
      ctx.fillStyle=css.dim;ctx.beginPath();
      if(it.group.open){ctx.moveTo(x,m-3);ctx.lineTo(x+8,m-3);ctx.lineTo(x+4,m+3)}
      else{ctx.moveTo(x+1,m-4);ctx.lineTo(x+7,m);ctx.lineTo(x+1,m+4)}
      ctx.fill();
      ctx.fillStyle=css.fg;
      ctx.fillText(fittedLabel(it.label,W-x-20,it.group),x+13,m+.5);
      return
    }
    ctx.fillStyle=css.line;ctx.fillRect(G-1,y,1,it.h+GAP);
    ctx.fillStyle=css.fg;
    if(it.label)ctx.fillText(fittedLabel(it.label,G-x-8,it.track),x,y+(it.values?9:it.h/2+.5));
    if(it.values){
      ctx.fillStyle=css.dim;ctx.font='11px system-ui,sans-serif';
      ctx.fillText(fitted('max '+numberText(it.track.top,it.track.unit),G-x-8),x,y+24)
    }
  });
  ctx.restore()
  }
/* Cut labels are kept with what they are of. */
function fittedLabel(text,width,of){
  if(of.fitWidth!==width||of.fitText!==text){
    of.fitWidth=width;of.fitText=text;
    text=cleanText(text,200);
    while(text&&ctx.measureText(text).width>width)text=text.replace(/\u2026$/,'').slice(0,-1)+'\u2026';
    of.fit=text
  }
  return of.fit
  }
function tickStep(ns,width){
  var least=ns*width,p=Math.pow(10,Math.floor(Math.log10(least)));
  return[1,2,5,10].map(function(f){return f*p}).find(function(v){return v>=least})
  }
function drawHead(x0){
  var k,a,b,n=line.length-x0,per=(W-G)/(info.span||1);
  ctx.fillStyle=css.bg;ctx.fillRect(0,0,W,TOP);
  ctx.fillStyle=css.soft;ctx.fillRect(G,0,W-G,30);
  ctx.fillStyle=rgbOf(pixel.cell);
  for(k=0;k<n;k++){
    var h=strip[x0+k]*26;
    if(h>0)ctx.fillRect(G+k/scale,29-Math.max(1,h),1/scale,Math.max(1,h))
  }
  if(info.window){
    ctx.fillStyle=css.accent;
    ctx.fillRect(G+info.window[0]*per,28,Math.max(2,(info.window[1]-info.window[0])*per),2)
  }
  a=Math.max(G,G+view.from*per);b=Math.min(W,Math.max(a+2,G+view.to*per));
  ctx.fillStyle=dark?'rgba(20,23,26,.62)':'rgba(255,255,255,.62)';
  ctx.fillRect(G,0,a-G,30);ctx.fillRect(b,0,W-b,30);
  ctx.strokeStyle=css.accent;ctx.lineWidth=1.5;ctx.strokeRect(a+.5,.75,Math.max(2,b-a-1.5),28.5);
  ctx.font='11px system-ui,sans-serif';
  var ns=nsPerPixel(),step=tickStep(ns,W<600?76:104),t=Math.ceil(view.from/step)*step;
  for(;t<=view.to;t+=step){
    var x=Math.round(xOf(t))+.5;
    ctx.fillStyle=css.line;ctx.fillRect(x-.5,TOP-8,1,8);
    ctx.fillStyle=css.dim;
    if(t>=-step/2&&x<W-48)ctx.fillText(tickText(Math.abs(t)<step/2?0:t,step),x+4,TOP-15)
  }
  ctx.fillStyle=css.line;ctx.fillRect(0,TOP-1,W,1);
  ctx.fillStyle=css.dim;
  if(hover&&hover.x>=G)ctx.fillText(fitted(timeText(timeOf(hover.x),true),G-12),6,TOP-15);
  if(span){
    ctx.fillStyle=css.accent;
    a=Math.max(G,xOf(span[0]));b=Math.min(W,xOf(span[1]));
    ctx.fillRect(a,TOP-4,Math.max(1,b-a),3)
  }
  if(hover&&hover.x>=G&&hover.y>TOP){ctx.fillStyle=css.line;ctx.fillRect(hover.x,TOP,1,2)}
  }
/* ---- numbers as text ---- */
var UNITS=[['s',1e9],['ms',1e6],['us',1e3],['ns',1]];
function timeText(ns,exact){
  var a=Math.abs(ns),u=UNITS.find(function(u){return a>=u[1]})||UNITS[3],v=ns/u[1];
  return(exact?v.toFixed(Math.min(9,Math.log10(u[1]))).replace(/(\.\d*?)0+$/,'$1').replace(/\.$/,''):
    Number(v.toPrecision(4)).toString())+' '+u[0]
  }
function tickText(t,step){
  var u=UNITS.find(function(u){return Math.max(Math.abs(t),step)>=u[1]})||UNITS[3];
  return(t/u[1]).toFixed(Math.max(0,Math.ceil(Math.log10(u[1]/step)-1e-9)))+' '+u[0]
  }
function countText(n){return Math.round(n).toLocaleString('en-US')}
function numberText(v,unit){
  if(unit==='bytes'||unit==='bytes/s'){
    var p=unit==='bytes'?['B','KiB','MiB','GiB','TiB']:['B/s','kB/s','MB/s','GB/s','TB/s'],
      step=unit==='bytes'?1024:1000,k=0,a=Math.abs(v);
    while(a>=step&&k<4){a/=step;v/=step;k++}
    return Number(v.toPrecision(4))+' '+p[k]
  }
  return Number(v.toPrecision(6))+(unit&&unit!=='#'?' '+cleanText(unit,20):'')
  }
function wideText(lo,hi){
  return hi>2097151?String(BigInt(hi)*4294967296n+BigInt(lo)):String(hi*4294967296+lo)
  }
function clockText(ns){return String(BigInt(info.base)+BigInt(Math.round(ns)))}
/* ---- what is under the pointer ---- */
function itemAt(y){
  if(y<TOP)return-1;
  y+=view.y-TOP;
  return items.findIndex(function(it){return y>=it.y&&y<it.y+it.h})
  }
function eventAt(x,y){
  var it=items[itemAt(y)];
  if(!it||!it.row||x<G)return-1;
  var r=it.row,t=timeOf(x),near=2*nsPerPixel(),i=r.reaching(t);
  if(i<r.n&&r.start[i]<=t)return r.index[i];
  var best=-1,gap=near;
  if(i<r.n&&r.start[i]-t<gap){best=r.index[i];gap=r.start[i]-t}
  if(i&&t-r.end[i-1]<gap)best=r.index[i-1];
  return best
  }
/* ---- cards ---- */
function make(tag,text,cls){
  var e=document.createElement(tag);
  if(text!==undefined)e.textContent=text;
  if(cls)e.className=cls;
  return e
  }
function trackOf(e){
  return tracks.find(function(t){return e>=t.first&&e<t.first+t.count})
  }
function swatch(name){
  var c=paint[name],i=make('i');
  i.style.background='rgb('+(c&255)+','+(c>>>8&255)+','+(c>>>16&255)+')';
  return i
  }
/* Pairs of a field and its text. */
function detailsOf(e){
  var lo=0,hi=blocks.length,all=[];
  while(hi-lo>1){
    var mid=lo+hi>>>1;
    if(blocks[mid].first<=e)lo=mid;
    else hi=mid
  }
  var r=new Reader(blocks[lo].details),n=r.next(),f,skip=E.detail[e];
  for(var i=0;i<n&&i<=skip;i++){
    all=[];
    while((f=r.next())){
      var field=info.fields[f-1],name=field[0],v;
      if(field[1]==='d')v=[r.next(),r.next(),r.next()].join(' \u00d7 ');
      else if(field[1]==='a'){
        name=texts[r.next()];
        var len=r.next();
        v=new TextDecoder().decode(r.b.subarray(r.at,r.at+len));r.at+=len
      }else{
        v=r.next();
        v=field[1]==='t'?texts[v]:field[1]==='b'?numberText(v,'bytes'):String(v)
      }
      all.push([name,v])
    }
  }
  return all
  }
function sameStack(a,b){return E.stackLo[a]===E.stackLo[b]&&E.stackHi[a]===E.stackHi[b]}
function findPartners(e){
  var link=E.flags[e]>>4&3,own=trackOf(e),list=[];
  if(!link)return list;
  tracks.forEach(function(t){
    if(t.capture!==own.capture)return;
    for(var k=t.first;k<t.first+t.count;k++)
      if(sameStack(k,e)&&(E.flags[k]>>4&3)===3-link)list.push(k)
  });
  return list
  }
function showEvent(e,reveal){
  selected=e;partners=e<0?[]:findPartners(e);
  var card=el('event');
  card.textContent='';
  if(e>=0){
    var t=trackOf(e),g=t.group,dl=make('dl'),where=[t.label],h=make('h2',cleanText(texts[E.name[e]]||'(no name)',4000)),
      kind=info.kinds[E.flags[e]&15],guid=captures[t.capture][1];
    var add=function(k,v){dl.append(make('dt',cleanText(k,200)),make('dd',cleanText(v,4000)))};
    for(;g;g=g.parent===null?null:groups[g.parent])where.unshift(g.label);
    h.style.borderLeft='.35em solid '+swatch(E.name[e]).style.background;
    add('Kind',kind);
    add('Begin',timeText(E.start[e],true)+' after the first event');
    add('Begin, clock',clockText(E.start[e])+' ns');
    if(kind!=='instant')add('Duration',timeText(E.end[e]-E.start[e],true));
    add('Track',where.join(' \u203a '));
    if(E.size[e]){
      add('Bytes',countText(E.size[e])+' ('+numberText(E.size[e],'bytes')+')');
      if(kind==='copy'&&E.end[e]>E.start[e])
        add('Rate',numberText(E.size[e]/(E.end[e]-E.start[e])*1e9,'bytes/s'))
    }
    detailsOf(e).forEach(function(d){add(d[0],d[1])});
    if(E.stackLo[e]||E.stackHi[e])add('Stack id',wideText(E.stackLo[e],E.stackHi[e]));
    add('Id',kind+':'+guid+':'+wideText(E.rowLo[e],E.rowHi[e]));
    if(captures.length>1)add('File',captures[t.capture][0]);
    card.append(h,dl);
    if(partners.length){
      var links=make('div','','tl-links'),call=(E.flags[e]>>4&3)===1;
      links.append(make('span',call?'Launched':'Launched by'));
      partners.slice(0,20).forEach(function(p){
        var b=make('button',shownName(E.name[p])),d=E.start[p]-E.start[e];
        b.title=timeText(Math.abs(d))+(d<0?' earlier':' later');
        b.addEventListener('click',function(){showEvent(p,true)});
        links.append(b)
      });
      if(partners.length>20)links.append(make('span','and '+countText(partners.length-20)+' more'));
      card.append(links)
    }
    if(reveal)revealEvent(e)
  }else card.append(make('p','Choose an event to see what is known of it. Drag along the time above '+
    'the tracks to sum up a span.','note'));
  redraw()
  }
function revealEvent(e){
  var t=trackOf(e);
  for(var g=t.group,changed=false;g;g=g.parent===null?null:groups[g.parent])
    if(!g.open){g.open=true;changed=true}
  if(changed)layOut();
  var it=rowItemOf(e),a=E.start[e],b=E.end[e],len=view.to-view.from;
  if(it){
    cursor=items.indexOf(it);
    if(it.y<view.y)view.y=Math.max(0,it.y-40);
    if(it.y+it.h>view.y+H-TOP)view.y=Math.min(scrollMost(),it.y+it.h+40-(H-TOP))
  }
  if(a>view.to-len*.05||b<view.from+len*.05||b-a>len*1.5){
    var mid=b-a>len?a+len*.4:(a+b)/2;
    setView(mid-len/2,mid+len/2)
  }
  redraw()
  }
/* Sums of what overlaps the span, by name and by track: events, and how long they are in it. */
function sumSpan(a,b){
  var count=new Float64Array(texts.length),time=new Float64Array(texts.length),by=[],cells=0;
  tracks.forEach(function(t){
    var n=0,sum=0;
    t.rows.forEach(function(r){
      for(var i=r.reaching(a);i<r.n&&r.start[i]<b;i++){
        var d=Math.min(b,r.end[i])-Math.max(a,r.start[i]),e=r.index[i];
        if(r.end[i]<=a&&r.start[i]<a)continue;
        count[E.name[e]]++;time[E.name[e]]+=d;n++;sum+=d
      }
    });
    if(t.cells){
      var w=info.window;
      for(var k=lowerBound(t.cells,Math.floor(a/info.cell));k<t.cells.length&&t.cells[k]*info.cell<b;k++)
        if(t.cells[k]*info.cell+info.cell<=w[0]||t.cells[k]*info.cell>=w[1])
          cells+=t.cellEvents[k+1]-t.cellEvents[k]
    }
    if(n)by.push({track:t,n:n,time:sum})
  });
  return{count:count,time:time,tracks:by,cells:cells}
  }
function tableOf(titles,rows){
  var scroll=make('div','','scroll'),table=make('table'),head=make('tr'),body=make('tbody'),
    top=make('thead');
  titles.forEach(function(t,i){
    var th=make('th',t,i?'':'t');
    th.scope='col';head.append(th)
  });
  top.append(head);table.append(top,body);scroll.append(table);scroll.tabIndex=0;
  rows.forEach(function(r){
    var tr=make('tr');
    r.forEach(function(v,i){
      var td=make('td',i?v:'',i?'':'t');
      if(!i){
        if(v.name!==undefined)td.append(swatch(v.name));
        td.append(v.text);td.title=v.text
      }else if(typeof v==='object'){td.textContent=v.text;td.dataset.v=v.v}
      tr.append(td)
    });
    body.append(tr)
  });
  return scroll
  }
function showSpan(){
  var card=el('sum');
  card.textContent='';
  delete card.dataset.from;
  if(!span)return;
  var a=span[0],b=span[1],s=sumSpan(a,b),names=[],n=0,sum=0;
  card.dataset.from=clockText(a);card.dataset.to=clockText(b);
  for(var i=0;i<texts.length;i++)if(s.count[i]){names.push(i);n+=s.count[i];sum+=s.time[i]}
  names.sort(function(x,y){return s.time[y]-s.time[x]||s.count[y]-s.count[x]||x-y});
  card.append(make('h2',timeText(b-a)+' from '+timeText(a)),
    make('p',countText(n)+' events of '+countText(names.length)+' names, '+timeText(sum)+
      ' in all; of events that reach beyond the span, what is in it.'+
      (s.cells?' '+countText(s.cells)+' more only as densities.':''),'note'));
  var time=function(v){return{text:timeText(v),v:v}},number=function(v){return{text:countText(v),v:v}};
  card.append(tableOf(['Name','Events','Time','Average','% of span'],names.slice(0,500).map(function(i){
    return[{text:cleanText(texts[i]||'(no name)',300),name:i},number(s.count[i]),time(s.time[i]),
      time(s.time[i]/s.count[i]),{text:(100*s.time[i]/(b-a||1)).toFixed(1),v:100*s.time[i]/(b-a||1)}]
  })));
  s.tracks.sort(function(x,y){return y.time-x.time});
  card.append(make('h2','By track'),tableOf(['Track','Events','Time'],s.tracks.slice(0,200).map(function(t){
    return[{text:cleanText(t.track.group.label+' \u203a '+t.track.label,300)},number(t.n),time(t.time)]
  })))
  }
function setSpan(a,b){
  a=Math.round(a);b=Math.round(b);
  span=a<b?[a,b]:b<a?[b,a]:null;
  redraw()
  }
/* ---- find ---- */
function find(text){
  found=null;
  if(text){
    var low=text.toLowerCase();
    found=texts.map(function(t){return t.toLowerCase().includes(low)});
    found.total=0;
    for(var e=0;e<E.count;e++)found.total+=found[E.name[e]]
  }
  el('found').textContent=found?countText(found.total)+(found.total===1?' event':' events'):'';
  setColours();redraw()
  }
function step(forward){
  if(!found||!found.total)return;
  var from=selected>=0?E.start[selected]:forward?view.from-1:view.to,best=-1,at=selected>=0?selected:-1,
    wrap=-1,rank=1;
  for(var e=0;e<E.count;e++){
    if(!found[E.name[e]])continue;
    var s=E.start[e],after=s>from||s===from&&e>at,before=s<from||s===from&&e<at;
    if(forward?after&&(best<0||s<E.start[best]):before&&(best<0||s>=E.start[best]))best=e;
    if(wrap<0||(forward?s<E.start[wrap]:s>=E.start[wrap]))wrap=e
  }
  best=best<0?wrap:best;
  for(e=0;e<E.count;e++)if(found[E.name[e]]&&(E.start[e]<E.start[best]||E.start[e]===E.start[best]&&e<best))rank++;
  el('found').textContent=countText(rank)+' of '+countText(found.total);
  showEvent(best,true)
  }
el('find').addEventListener('input',function(){find(this.value)});
el('find').addEventListener('keydown',function(e){
  if(e.key==='Enter'){e.preventDefault();step(!e.shiftKey)}
  if(e.key==='Escape'){this.value='';find('');canvas.focus()}
  });
el('next').addEventListener('click',function(){step(true)});
el('prev').addEventListener('click',function(){step(false)});
/* ---- keys ---- */
var held={},last=0;
function fly(now){
  var dt=Math.min(50,now-last||16)/1000,len=view.to-view.from,mid=hover&&hover.x>=G?timeOf(hover.x):(view.from+view.to)/2,
    on=false;
  last=now;
  if(held.w){zoomAt(mid,Math.exp(-2.5*dt));on=true}
  if(held.s){zoomAt(mid,Math.exp(2.5*dt));on=true}
  if(held.a||held.ArrowLeft){setView(view.from-len*dt*.9,view.to-len*dt*.9);on=true}
  if(held.d||held.ArrowRight){setView(view.from+len*dt*.9,view.to+len*dt*.9);on=true}
  if(on)requestAnimationFrame(fly);
  else last=0
  }
function moveCursor(d){
  var k=cursor;
  do k+=d;while(k>=0&&k<items.length&&items[k].values);
  if(k<0||k>=items.length)return;
  cursor=k;
  var it=items[k];
  if(it.y<view.y)view.y=it.y;
  if(it.y+it.h>view.y+H-TOP)view.y=it.y+it.h-(H-TOP);
  redraw()
  }
function neighbour(d){
  var it=selected>=0?rowItemOf(selected):items[cursor],r=it&&it.row;
  if(!r||!r.n)return;
  if(selected<0){showEvent(r.index[Math.min(r.n-1,r.reaching(view.from))],true);return}
  var i=r.from(E.start[selected],0);
  while(r.index[i]!==selected)i++;
  i+=d;
  if(i>=0&&i<r.n)showEvent(r.index[i],true)
  }
function toggle(it){
  it.group.open=!it.group.open;
  layOut();resize();redraw()
  }
var keys={
  '+':function(){zoomAt((view.from+view.to)/2,.6)},'=':function(){keys['+']()},
  '-':function(){zoomAt((view.from+view.to)/2,1/.6)},
  '0':showAll,Home:showAll,
  ArrowUp:function(){moveCursor(-1)},ArrowDown:function(){moveCursor(1)},
  PageUp:function(){scrollBy(TOP-H)},PageDown:function(){scrollBy(H-TOP)},
  Enter:function(){
    var it=items[cursor];
    if(it&&it.group)toggle(it);
    else{selected=-1;neighbour(0)}
  },
  ' ':function(){keys.Enter()},
  ',':function(){neighbour(-1)},'.':function(){neighbour(1)},
  l:function(){if(partners.length)showEvent(partners[0],true)},
  f:function(){
    if(selected<0)return;
    var pad=Math.max(50,(E.end[selected]-E.start[selected])*.5);
    setView(E.start[selected]-pad,E.end[selected]+pad)
  },
  m:function(){if(selected>=0){setSpan(E.start[selected],E.end[selected]);showSpan()}},
  '/':function(){el('find').focus()},
  n:function(){step(true)},N:function(){step(false)},
  '?':function(){el('keys').click()},
  Escape:function(){span=null;showSpan();showEvent(-1)}
  };
canvas.addEventListener('keydown',function(e){
  if(e.ctrlKey||e.metaKey||e.altKey||!info)return;
  if('wasd'.includes(e.key)||e.key==='ArrowLeft'||e.key==='ArrowRight'){
    e.preventDefault();
    if(!held[e.key]){held[e.key]=true;requestAnimationFrame(fly)}
    return
  }
  if(keys[e.key]){e.preventDefault();keys[e.key]()}
  });
addEventListener('keyup',function(e){delete held[e.key]});
addEventListener('blur',function(){held={}});
canvas.addEventListener('blur',function(){held={};redraw()});
canvas.addEventListener('focus',redraw);
/* ---- wheel and pointer ---- */
canvas.addEventListener('wheel',function(e){
  if(!info)return;
  e.preventDefault();
  var k=e.deltaMode===1?16:1,len=view.to-view.from;
  if(e.ctrlKey||e.metaKey||e.altKey||(!scrollMost()&&!e.shiftKey&&Math.abs(e.deltaY)>Math.abs(e.deltaX)))
    zoomAt(timeOf(Math.max(G,e.offsetX)),Math.exp(e.deltaY*k*.002));
  else if(e.shiftKey||Math.abs(e.deltaX)>Math.abs(e.deltaY)){
    var d=(e.deltaX||e.deltaY)*k*nsPerPixel();
    setView(view.from+d,view.to+d)
  }else scrollBy(e.deltaY*k)
  },{passive:false});
var pointers={},drag=null;
function pinch(){
  var p=Object.values(pointers);
  return p.length===2?{mid:(p[0].x+p[1].x)/2,far:Math.max(10,Math.abs(p[0].x-p[1].x))}:null
  }
canvas.addEventListener('pointerdown',function(e){
  if(!info||e.button)return;
  canvas.focus();
  try{canvas.setPointerCapture(e.pointerId)}catch(x){}
  pointers[e.pointerId]={x:e.offsetX,y:e.offsetY};
  drag={x:e.offsetX,y:e.offsetY,from:view.from,to:view.to,top:view.y,moved:false,pinch:pinch(),
    what:e.offsetX<G?'label':e.offsetY<30?'strip':e.offsetY<TOP||e.shiftKey?'span':'move'};
  if(drag.what==='strip')moveStrip(e.offsetX)
  });
function moveStrip(x){
  var len=view.to-view.from,t=(x-G)/plotWidth()*info.span;
  setView(t-len/2,t+len/2)
  }
canvas.addEventListener('pointermove',function(e){
  if(!info)return;
  var x=e.offsetX,y=e.offsetY;
  if(!drag){
    var at=itemAt(y),it=items[at],t=it&&it.track;
    hover={x:x,y:y,event:eventAt(x,y)};
    canvas.style.cursor=x<G?it&&it.group?'pointer':'default':y<TOP&&y>=30?'col-resize':
      hover.event>=0?'pointer':'default';
    canvas.title=hover.event>=0?shownName(E.name[hover.event])+'\n'+
      timeText(E.end[hover.event]-E.start[hover.event]):
      it&&it.values&&x>=G&&valueAt(t,timeOf(x))!==null?numberText(valueAt(t,timeOf(x)),t.unit):
      x<G&&it?cleanText(it.label,300):'';
    redraw();
    return
  }
  if(pointers[e.pointerId])pointers[e.pointerId]={x:x,y:y};
  var two=pinch();
  if(two&&drag.pinch){
    zoomAt(timeOf(two.mid),drag.pinch.far/two.far);drag.pinch=two;drag.moved=true;
    return
  }
  if(Math.abs(x-drag.x)+Math.abs(y-drag.y)>4)drag.moved=true;
  if(!drag.moved)return;
  if(drag.what==='strip')moveStrip(x);
  else if(drag.what==='span')setSpan(timeOf(Math.max(G,drag.x)),timeOf(Math.max(G,x)));
  else if(drag.what==='move'){
    var d=(drag.x-x)*(drag.to-drag.from)/plotWidth();
    view.y=Math.max(0,Math.min(scrollMost(),drag.top+drag.y-y));
    setView(drag.from+d,drag.to+d)
  }else{view.y=Math.max(0,Math.min(scrollMost(),drag.top+drag.y-y));redraw()}
  });
function endDrag(e){
  delete pointers[e.pointerId];
  if(!drag)return;
  var d=drag;
  drag=null;
  if(d.moved){
    if(d.what==='span')showSpan();
    return
  }
  var at=itemAt(e.offsetY);
  if(at>=0){
    cursor=at;
    if(items[at].group)toggle(items[at]);
    else if(d.what==='move')showEvent(eventAt(e.offsetX,e.offsetY),false)
  }
  }
canvas.addEventListener('pointerup',endDrag);
canvas.addEventListener('pointercancel',function(e){delete pointers[e.pointerId];drag=null});
canvas.addEventListener('pointerleave',function(){if(!drag){hover=null;redraw()}});
canvas.addEventListener('dblclick',function(e){if(eventAt(e.offsetX,e.offsetY)>=0)keys.f()});
el('in').addEventListener('click',function(){keys['+']()});
el('out').addEventListener('click',function(){keys['-']()});
el('fit').addEventListener('click',showAll);
el('keys').addEventListener('click',function(){
  var h=el('help');
  h.hidden=!h.hidden;this.setAttribute('aria-expanded',!h.hidden)
  });
/* ---- begin ---- */
function facts(){
  var n=info.events,k=info.eventDetails,v=info.values,text=countText(n)+(n===1?' event':' events');
  if(k<n)text+=', '+countText(k)+' of them in detail'+(info.window?' ('+timeText(info.window[0])+' to '+
    timeText(info.window[1])+')':'')+', '+countText(n-k)+' as densities only (grey)';
  else text+=', all in detail';
  if(v)text+='; '+countText(v)+' values'+(info.valueDetails<v?', of which '+countText(v-info.valueDetails)+
    ' only as the largest of their time':'');
  text+='; '+(info.faults?countText(info.faults)+' broken records were left out or repaired':
    'nothing was left out')+'.';
  el('facts').textContent=text
  }
function theme(){if(info){setColours();redraw()}}
var data=el('data').textContent.split('\n').filter(Boolean);
if(typeof DecompressionStream!=='function'){
  el('facts').textContent='This browser cannot unpack the timeline: it needs DecompressionStream '+
    '(Chrome 80, Firefox 113, Safari 16.4, or newer).'
  }
else Promise.all(data.map(inflate)).then(function(all){
  data=null;
  readAll(all);makeRows();findWork();setColours();layOut();facts();showEvent(-1);resize();
  view.from=0;view.to=info.span||1;
  if(info.window)setView(info.window[0]-(info.window[1]-info.window[0])*.1,
    info.window[1]+(info.window[1]-info.window[0])*.1);
  else showAll();
  new ResizeObserver(function(){if(canvas.clientWidth&&canvas.clientWidth!==W)resize()}).observe(canvas);
  addEventListener('resize',resize);
  new MutationObserver(theme).observe(document.documentElement,{attributes:true});
  matchMedia('(prefers-color-scheme:dark)').addEventListener('change',theme);
  canvas.dataset.ready=performance.now().toFixed(0)
  }).catch(function(e){el('facts').textContent='The timeline cannot be read: '+e.message});
})();

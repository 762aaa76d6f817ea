<?xml version="1.0" encoding="UTF-8"?>
<tileset version="1.10" tiledversion="1.10.2" name="tiles" tilewidth="16" tileheight="16" tilecount="32" columns="8">
 <image source="../textures/tiles.png" width="128" height="64"/>
 <tile id="0" type="solid"/>
 <tile id="1" type="solid"/>
 <tile id="2" type="solid"/>
 <tile id="3" type="solid"/>
 <tile id="4" type="solid"/>
 <tile id="5" type="solid"/>
 <tile id="6" type="solid"/>
 <tile id="7" type="solid"/>
 <tile id="8">
  <objectgroup draworder="index" id="2">
   <object id="1" x="0" y="16"><polygon points="0,0 16,-16 16,0"/></object>
  </objectgroup>
 </tile>
 <tile id="9">
  <objectgroup draworder="index" id="2">
   <object id="1" x="0" y="16"><polygon points="0,0 0,-16 16,0"/></object>
  </objectgroup>
 </tile>
 <tile id="10" type="solid"/>
 <tile id="11" type="solid"/>
 <tile id="12" type="one_way"/>
 <tile id="13" type="one_way"/>
 <tile id="14" type="one_way"/>
 <tile id="15" type="hazard"/>
 <tile id="16" type="solid"/>
 <tile id="24" type="hazard"><animation><frame tileid="24" duration="200"/><frame tileid="25" duration="200"/><frame tileid="26" duration="200"/><frame tileid="27" duration="200"/></animation></tile>
 <tile id="28" type="hazard"/>
 <tile id="29" type="solid"/>
</tileset>
